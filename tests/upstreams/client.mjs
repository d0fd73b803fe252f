// Sends requests of OpenAPI operations by swagger-client, which is none of Interlock's: `node client.mjs NODE_MODULES`.
// Reads {"spec", "calls": [{"path", "method", "parameters", "body", "kind", "files"}]} from stdin; prints a line for each.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.argv[2]}/x.js`);
const SwaggerClient = require("swagger-client");
const { spec, calls } = JSON.parse(readFileSync(0, "utf8"));
const client = await SwaggerClient({ spec, disableInterfaces: true });

function bodyOf(call) {
  if (!call.files.length) return call.body;
  const made = { ...call.body };
  for (const [name, type] of call.files) {
    made[name] = new File([Buffer.from(made[name], "base64")], name, { type });
  }
  return made;
}

for (const call of calls) {
  try {
    const { status } = await SwaggerClient.execute({
      spec: client.spec,
      pathName: call.path,
      method: call.method,
      parameters: call.parameters,
      ...(call.kind ? { requestBody: bodyOf(call), requestContentType: call.kind } : {}),
    });
    console.log(JSON.stringify({ status }));
  } catch (fault) {
    console.log(JSON.stringify({ fault: `${fault}` }));
  }
}
