import { counted, countText } from '../number-text.ts';
import { readTrace, type Trace, type TraceBar } from '../trace/index.ts';
import { costText, oneLine } from './format.ts';
import type { Paint } from './paint.ts';
import type { Project } from './project.ts';
import { stopLine } from './run-ending.ts';
import { stepTable } from './trace-text.ts';

/** Most agents that are shown with their steps, at all depths together. */
const MOST_SHOWN = 20;
/** Most agents to read in search of a call. */
const MOST_SEARCHED = 400;

/** An agent behind a call. */
export interface NestedTrace {
  readonly trace: Trace;
  readonly call: TraceBar;
  /** The parent's step with the call. */
  readonly step: number;
  /** The step of the session's own agent. */
  readonly rootStep: number;
  /** 1 for an agent that the session's own agent called. */
  readonly depth: number;
}

interface Found {
  readonly agents: readonly NestedTrace[];
  /** Number of agents that were not read, without those behind their calls. */
  readonly omitted: number;
}

/** Reads the traces of the agents behind the calls of a trace, each before those behind its own calls. */
export async function nestedTraces(
  { runtime, owner }: Project,
  root: Trace,
  most: number = MOST_SHOWN,
  isLast: (agent: NestedTrace) => boolean = () => false,
): Promise<Found> {
  const agents: NestedTrace[] = [];
  let omitted = 0;
  const { sessionId, executionId } = root;
  async function visit(parent: Trace, depth: number, above: number | null): Promise<boolean> {
    for (const { number, bars } of parent.steps)
      for (const call of bars) {
        if (!call.child || call.callId === null) continue;
        if (agents.length >= most) {
          omitted += 1;
          continue;
        }
        const rootStep = above ?? number;
        const options = { owner, call: { callId: call.callId, step: rootStep } };
        const trace = await readTrace(runtime, sessionId, {
          ...options,
          ...(executionId !== null && { executionId }),
        });
        const found = { trace, call, step: number, rootStep, depth };
        agents.push(found);
        if (isLast(found) || (await visit(trace, depth + 1, rootStep))) return true;
      }
    return false;
  }
  await visit(root, 1, null);
  return { agents, omitted };
}

/** Finds the agent behind a call, at any depth; null if there is none. */
export async function nestedTrace(
  project: Project,
  root: Trace,
  callId: string,
): Promise<NestedTrace | null> {
  const isIt = (agent: NestedTrace): boolean => agent.call.callId === callId;
  const { agents } = await nestedTraces(project, root, MOST_SEARCHED, isIt);
  return agents.find(isIt) ?? null;
}

/** Formats an agent behind a call: its totals, its steps and why it stopped, indented by its depth. */
export function nestedLines({ trace, call, step, depth }: NestedTrace, paint: Paint): string[] {
  const { child } = call;
  if (!child) return [];
  const facts = [
    counted(child.steps, 'step'),
    `${countText(child.tokens)} tokens`,
    child.cost === null || child.cost === 0 ? '' : costText(child.cost),
  ];
  const head = `Step ${step}: ${oneLine(call.name, 60)} ran agent ${oneLine(child.agent, 60)}`;
  const about = [child.status, ...facts.filter(Boolean), `call ${call.callId}`].join(' · ');
  const earlier = trace.hasEarlier ? [paint('dim', '… earlier steps are not shown')] : [];
  const inside = [
    ...earlier,
    ...stepTable(trace, paint),
    ...(trace.stop ? [oneLine(stopLine(trace.stop), 400)] : []),
  ];
  const indent = '  '.repeat(depth);
  return [
    `${indent}${paint('bold', head)}  ${paint('dim', about)}`,
    ...inside.map((line) => `${indent}  ${line}`),
  ];
}
