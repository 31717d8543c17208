// One pi subagent that needs one permission: drives the child-side class of the published package, and prints what it
// decided. Only this glue is ours; the class is imported from the package as it was published.
//
//   node child.mjs '{"forwardingDir": "...", "parent": "...", "session": "...", "agent": "...",
//                    "surface": "bash", "value": "git push", "message": "...", "grants": ["git push *"]}'
//
// stdout: the decision, one line of JSON. stderr: the package's own log, one event a line. Exit 0 once decided.
import { ParentAuthorizer } from "PACKAGE/src/authority/approval-escalator.ts";

type Ask = {
  forwardingDir: string;
  parent: string;
  session: string;
  agent: string;
  surface: string;
  value: string;
  message: string;
  grants?: string[];
};

const ask = JSON.parse(process.argv[2] ?? "null") as Ask | null;
if (!ask) {
  console.error("child: one argument is needed, the question as JSON");
  process.exit(2);
}
process.env.PI_SUBAGENT_PARENT_SESSION = ask.parent;
process.env.PI_IS_SUBAGENT = "1";

const logTo = (stream: string) => (event: string, details?: object) =>
  process.stderr.write(`${JSON.stringify({ stream, event, ...details })}\n`);

// As much of pi's session as the class looks at: no screen, an id, the agent's name in the system prompt.
const session = {
  hasUI: false,
  cwd: process.cwd(),
  ui: {},
  getSystemPrompt: () => `<active_agent name="${ask.agent}"/>`,
  sessionManager: { getSessionId: () => ask.session, getSessionDir: () => "", getEntries: () => [] },
};
const authorizer = new ParentAuthorizer(session as never, {
  forwardingDir: ask.forwardingDir,
  logger: { review: logTo("review"), debug: logTo("debug") } as never,
});
const decision = await authorizer.authorize({
  requestId: `ask-${process.pid}`,
  source: "tool_call",
  agentName: ask.agent,
  message: ask.message,
  surface: ask.surface,
  value: ask.value,
  ...(ask.grants && { sessionApproval: { surface: ask.surface, patterns: ask.grants } }),
} as never);
process.stdout.write(`${JSON.stringify(decision)}\n`);
