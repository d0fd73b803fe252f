"""How the page of a review looks: light and dark as the reader's system is, and on paper."""

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--ground:#fbfbfa;--card:#fff;--ink:#1b1d21;--soft:#5d636d;--line:#e2e4e8;
--well:#2a7f62;--again:#8fb8a8;--asked:#6b5fb5;--refused:#d99a2b;--failed:#c0452f;--lost:#7a1f46;--accent:#2f5fa8}
@media(prefers-color-scheme:dark){:root{--ground:#14161a;--card:#1c1f25;--ink:#e8eaee;--soft:#9aa2ae;--line:#2f343d;
--well:#4db28d;--again:#3f6b5b;--asked:#9a90e0;--refused:#e0ae55;--failed:#e5735d;--lost:#d071a0;--accent:#8ab0ec}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans","Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif}
main{max-width:1180px;margin:0 auto;padding:32px 20px 64px}
h1{font-size:28px;line-height:1.2;margin:0 0 6px;font-weight:650}
h1 .tenant{color:var(--accent)}
h2{font-size:19px;margin:40px 0 10px;font-weight:650}
h3{font-size:15px;margin:22px 0 6px;font-weight:600}
p{margin:4px 0}
.note,footer{color:var(--soft);font-size:13px}
.none{color:var(--soft);padding:14px 16px;border:1px dashed var(--line);border-radius:10px}
footer{margin-top:44px;padding-top:14px;border-top:1px solid var(--line);max-width:80ch}
strong,code,dd{overflow-wrap:anywhere}
td.plain{white-space:nowrap}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(108px,1fr));gap:10px;margin:22px 0 0}
.figures div{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:10px 14px}
.figures dt{color:var(--soft);font-size:12.5px}
.figures dd{margin:2px 0 0;font-size:22px;font-weight:600;font-variant-numeric:tabular-nums}
ul{list-style:none;margin:0;padding:0}
.proposals li{display:flex;gap:14px;align-items:flex-start;padding:12px 14px;background:var(--card);
border:1px solid var(--line);border-radius:10px;margin-bottom:8px}
.proposals li>div{min-width:0}
.proposals ul li{display:block;padding:0;border:0;margin:0 0 10px}
.proposals ul li:last-child{margin:0}
.kind{flex:0 0 150px;text-align:center;white-space:nowrap;
font-size:12.5px;font-weight:600;padding:3px 8px;border-radius:999px;
border:1px solid currentColor;color:var(--accent)}
.kind.freeze,.kind.retire{color:var(--failed)}
.kind.merge,.kind.narrow{color:var(--asked)}
code{display:block;margin-top:2px;
font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft)}
.wide{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:10px}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:9px 12px;border-bottom:1px solid var(--line)}
tbody tr:last-child td{border-bottom:0}
th{font-size:12.5px;font-weight:600;color:var(--soft);white-space:nowrap}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td small{color:var(--soft)}
td em{color:var(--failed);font-style:normal}
summary{cursor:pointer;color:var(--soft);font-size:12.5px}
.tools tbody tr:not(.more) td{border-bottom:0;padding-bottom:2px}
.more td{padding-top:0}
.details{display:grid;grid-template-columns:repeat(auto-fill,minmax(230px,1fr));gap:8px 18px;
margin:8px 0 4px;font-size:13px}
.details dt{color:var(--soft);font-size:12.5px}
.details dd{margin:0}
.bar{display:flex;min-width:150px;height:12px;margin-top:5px;border-radius:6px;overflow:hidden;background:var(--line);gap:1px}
.bar i{display:block;min-width:2px}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin-bottom:8px;font-size:13px;color:var(--soft)}
.key::before{content:"";display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:6px;
background:var(--key)}
.key{--key:var(--line)}
i.well{background:var(--well)}.key.well{--key:var(--well)}
i.again{background:var(--again)}.key.again{--key:var(--again)}
i.asked{background:var(--asked)}.key.asked{--key:var(--asked)}
i.refused{background:var(--refused)}.key.refused{--key:var(--refused)}
i.failed{background:var(--failed)}.key.failed{--key:var(--failed)}
i.lost{background:var(--lost)}.key.lost{--key:var(--lost)}
.pairs li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:12px 14px;margin-bottom:8px}
.bars{display:flex;flex-wrap:wrap;gap:2px 22px;font-size:13px;color:var(--soft)}
meter{width:90px;vertical-align:-2px}
@media(max-width:640px){.proposals li{flex-direction:column;gap:8px}.kind{flex:none}}
@media print{body{background:#fff}main{max-width:none;padding:0}li,tr{break-inside:avoid}}
"""
