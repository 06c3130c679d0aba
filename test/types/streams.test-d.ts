import {
  createAgent,
  type AgentEvent,
  type AgentState,
  type AgentStatus,
  type DeepPartial,
  type EventOf,
  type PauseKind,
} from 'onward';
import { clock, crm, driver, findLeads, Invoice, mailer, same, sendMail } from './fixtures.ts';

const agent = createAgent({
  name: 'billing',
  driver,
  tools: [findLeads, sendMail, clock],
  responseFormat: Invoice,
});
const deps = { crm, mailer };

// the same for a run and a resume
const run = agent.stream('x', { deps });
const paused = await run.state;
same<typeof paused, AgentState<Invoice>>();
const approvals = { c1: { approve: true } } as const;
const more = agent.stream({ resume: paused, approvals, grant: { steps: 5 } }, { deps });
same<typeof run, typeof more>();
// @ts-expect-error approvals belong to a resume
agent.stream('x', { deps, approvals: {} });
// @ts-expect-error deps are missing
agent.stream({ resume: paused });

for await (const text of run.textStream) same<typeof text, string>();
for await (const part of run.partialOutputStream) same<typeof part, DeepPartial<Invoice>>();
for await (const call of run.toolCalls) {
  if (!call.ok) {
    same<typeof call.error, string>();
    continue;
  }
  switch (call.tool) {
    case 'find_leads':
      same<typeof call.args, { partner: string; limit?: number | undefined }>();
      // a stored date is a string
      same<(typeof call.result)[number]['since'], string>();
      break;
    case 'send_mail':
      same<typeof call.result, null>();
      break;
    case 'clock':
      same<typeof call.result, string>();
      break;
    default:
      same<typeof call, never>();
  }
}

// unions that can be checked for exhaustiveness
same<EventOf<'AgentStarted'>['previousStatus'], AgentStatus>();
same<EventOf<'AgentStateUpdated'>['status'], AgentStatus>();
same<EventOf<'AgentPaused'>['kind'], PauseKind>();
same<EventOf<'AgentFinished'>['status'], 'completed' | 'stopped'>();
same<EventOf<'AgentFailed'>['status'], 'failed'>();
same<EventOf<'AgentFinished'>['previousStatus'], 'in_progress' | 'paused'>();

function kindText(kind: PauseKind): string {
  switch (kind) {
    case 'approval':
    case 'input':
      return 'needs approval';
    case 'requested':
      return 'was paused';
    case 'handover':
      return 'continues elsewhere';
    case 'fork':
      return 'is a fork';
    default:
      return kind satisfies never;
  }
}
export function line(event: AgentEvent): string {
  switch (event.type) {
    case 'AgentPaused':
      return kindText(event.kind);
    case 'AgentFinished':
    case 'AgentFailed':
    case 'AgentStateUpdated':
      return event.status;
    default:
      return event.type;
  }
}
for await (const event of more) same<typeof event, AgentEvent>();
agent.on('AgentPaused', ({ kind }) => void kindText(kind));
// @ts-expect-error not a final status
agent.on('AgentFinished', ({ status }) => void (status === 'paused'));
