import type { AgentBuilder, Grants, InferenceDriver, Session, SessionRuntime } from 'onward';
import { mockTool } from 'onward/testing';
import type { ResumeSessionOptions } from '../../src/sessions/session-options.ts';
import { ann, builderWith, memoryPlace, runtimeOn, waiting, type Place } from './sessions.ts';

/** A model that calls the tool in every answer, with 100 tokens and 1 cost unit per call. */
function endless(cost: number | null = 1): InferenceDriver & { readonly calls: number } {
  let calls = 0;
  return {
    name: 'endless',
    get calls() {
      return calls;
    },
    infer: () => {
      calls += 1;
      return Promise.resolve({
        content: `Still looking (${calls}).`,
        toolCalls: [{ id: `c${calls}`, name: 'look', args: { page: calls } }],
        finishReason: 'tool_calls' as const,
        usage: { input: 60, output: 40, total: 100, cachedInput: 0, reasoning: 0 },
        cost,
      });
    },
  };
}

export const asOwner: Pick<ResumeSessionOptions, 'owner' | 'authority' | 'wait'> = {
  ...waiting,
  authority: 'owner',
};

export interface Stopped {
  readonly runtime: SessionRuntime;
  readonly driver: InferenceDriver & { readonly calls: number };
  readonly session: Session;
  /** Resumes with a grant from the owner. */
  grant(grant: Grants, id?: string): Promise<Session>;
}

/** A session `s` that has reached a limit. */
export async function stoppedBy(
  limits: (builder: AgentBuilder) => AgentBuilder,
  options: Parameters<typeof runtimeOn>[2] = {},
  place: Place = memoryPlace(),
): Promise<Stopped> {
  const driver = endless();
  const agent = limits(builderWith(driver, mockTool('look', 'nothing'))).build();
  const runtime = runtimeOn(place.open(), agent, options);
  await runtime.create({ ...ann, id: 's' });
  const session = await runtime.send('s', 'go', waiting);
  return {
    runtime,
    driver,
    session,
    grant: (grant, id = 's') => runtime.resume(id, { ...asOwner, grant }),
  };
}
