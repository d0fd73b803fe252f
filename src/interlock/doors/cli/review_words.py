"""The words of a review's page in each language that it is written in; what the log says stands as it is."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Language(StrEnum):
    """What the headings of a page are written in."""

    EN = "en"
    ZH = "zh"


Words = Mapping[str, str]

_HOW_READ: Final = (
    "Counts are those of the audit log. What is said of the choice of tools is a sign, no proof, seen in the runs that "
    "were followed. Times are to within a tenth. What could not be read counts as unknown."
)
_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "title": ("Tool review", "工具评审"),
    "tenant": ("Tenant", "租户"),
    "made": ("Made", "生成时间"),
    "covers": ("Records from", "记录范围"),
    "until": ("to", "至"),
    "records": ("Records read", "读取的记录"),
    "unread": ("of them not readable", "其中无法读取"),
    "unplaced": ("of no known tool", "未注明工具"),
    "runs": ("Runs and tasks", "运行与任务"),
    "followed": ("followed step by step", "逐步跟踪"),
    "proposals": ("Proposals by models", "模型提议"),
    "well": ("Went well", "成功"),
    "refused": ("Refused", "拒绝"),
    "asked": ("Put to people", "请求批准"),
    "failed": ("Failed", "失败"),
    "lost": ("Outcome unknown", "结果未知"),
    "again": ("Given again", "重用结果"),
    "denied": ("Denied by policy", "策略拒绝"),
    "open": ("Unknown now", "目前未知"),
    "cost": ("Cost", "费用"),
    "tokens": ("Tokens", "令牌"),
    "models": ("Models", "模型"),
    "stopped": ("Runs stopped by people", "人工中止的运行"),
    "proposed": ("What might be done", "建议措施"),
    "nothing_proposed": ("Nothing is proposed.", "没有建议。"),
    "never_acts": (
        "Nothing happens by itself: each is a command for a person.",
        "不会自动执行：每项都需由人执行命令。",
    ),
    "command": ("Command", "命令"),
    "tools": ("Tools", "工具"),
    "tool": ("Tool", "工具"),
    "versions": ("Versions, with their calls", "各版本及调用"),
    "state": ("State", "状态"),
    "calls": ("Calls", "调用"),
    "how": ("How they ended", "结果分布"),
    "took": ("Half / 95% took", "50% / 95% 耗时"),
    "last": ("Last used", "最近使用"),
    "seen": ("Last seen", "最近出现"),
    "owner": ("Owner", "负责人"),
    "lacks": ("Lacks", "缺少"),
    "never": ("never", "从未"),
    "unowned": ("nobody", "无"),
    "more": ("more tools; --json has all of them.", "个其他工具；--json 包含全部。"),
    "details": ("Details", "详情"),
    "refusals": ("Refusals by code", "按代码的拒绝"),
    "failures": ("Failures by code", "按代码的失败"),
    "effects": ("Effects done, by resource", "按资源的已完成操作"),
    "people": ("People", "人工"),
    "approvals": ("Approved / declined / expired / edited", "批准 / 否决 / 过期 / 修改"),
    "deciding": ("Half / 95% decided within", "50% / 95% 决定用时"),
    "closed": ("Unknown closed by tool / person", "由工具 / 人工查明"),
    "undone": ("Undone / not undone", "已撤销 / 未能撤销"),
    "choice": ("Choice", "选择"),
    "arguments": ("Arguments refused", "参数被拒"),
    "repaired": ("Repaired in the run", "运行中修复"),
    "exchanged": ("Exchanged for another tool", "改用其他工具"),
    "turned_away": ("Turned away to another tool", "被拒后改用其他工具"),
    "retries": ("Retries", "重试"),
    "timeouts": ("Timeouts", "超时"),
    "empty": ("Empty results", "空结果"),
    "missing": (
        "Records without agent / model / trace / task / evidence",
        "缺少代理 / 模型 / 跟踪 / 任务 / 证据的记录",
    ),
    "unmeasured": ("Of unknown cost or time", "费用或耗时未知"),
    "changes": ("Versions that broke something", "不兼容的版本"),
    "gaps": ("Coverage gaps", "覆盖缺口"),
    "no_gaps": ("None was seen.", "未发现。"),
    "invented": ("Names that no tool has", "不存在的工具名"),
    "unfound": ("Searches that found nothing", "无结果的搜索"),
    "detours": ("The same way again and again", "反复的调用路径"),
    "denied_again": ("Refused by policy more than once in a run", "同一运行中被策略多次拒绝"),
    "times": ("Times", "次数"),
    "runs_with": ("Runs", "运行"),
    "within": ("Again in a run", "同一运行重复"),
    "near": ("Near", "相近"),
    "alike": ("Tools that are alike", "相似的工具"),
    "none_alike": ("No two are alike enough to be told.", "没有足够相似的工具。"),
    "both": ("Either does for the other.", "两者可互相替代。"),
    "one": ("The first does for the second.", "前者可替代后者。"),
    "other": ("The second does for the first.", "后者可替代前者。"),
    "neither": ("Neither does for the other.", "不可互相替代。"),
    "uncertain": ("Whether one does for the other is not certain.", "能否替代尚不确定。"),
    "effects_differ": ("Their effects differ.", "操作类型不同。"),
    "name": ("Name", "名称"),
    "words": ("Words", "文字"),
    "schema": ("Schema", "参数"),
    "share": ("Shared", "共同"),
    "how_read": (
        _HOW_READ,
        "计数来自审计日志。关于工具选择的结论仅来自被跟踪的运行，是迹象而非证明。耗时精确到一成以内。无法读取的内容按未知计。",
    ),
    "freeze": ("Freeze", "冻结"),
    "retire": ("Retire", "下线"),
    "merge": ("Merge", "合并"),
    "narrow": ("Narrow", "收窄"),
    "fix_description": ("Fix its words", "改进描述"),
    "add_owner": ("Name an owner", "指定负责人"),
    "add_examples": ("Add examples", "补充示例"),
    "raise_timeout": ("Raise its timeout", "延长超时"),
    "lower_timeout": ("Lower its timeout", "缩短超时"),
    "gap_owner": ("an owner", "负责人"),
    "gap_business_owner": ("a business owner", "业务负责人"),
    "gap_examples": ("examples", "示例"),
    "gap_stale_examples": ("fresh examples", "有效示例"),
    "gap_review_past": ("its review", "到期评审"),
}


def words_in(language: Language) -> Words:
    """All words of one language."""
    place = list(Language).index(language)
    return {name: texts[place] for name, texts in _WORDS.items()}
