import type { RunInput } from './enter-run.ts';
import type { ResumeInput } from './agent.ts';
import type { AgentDefinition } from './agent-options.ts';
import { AgentState } from './agent-state.ts';
import type { DurableOptions } from './run-options.ts';
import { openStream, type RunStream } from './run-stream.ts';

export const isResume = (input: RunInput | ResumeInput): input is ResumeInput =>
  typeof input === 'object' && input !== null && 'resume' in input;

/** Starts a run or a resume, and streams its events. */
export function streamRun(
  agent: AgentDefinition,
  input: RunInput | ResumeInput,
  given: DurableOptions,
  start: (options: DurableOptions) => Promise<AgentState>,
): RunStream {
  const { signal, wiretap } = given;
  const { resume = null, ...answers } = isResume(input) ? input : {};
  return openStream({
    stopsWhenLeft: true,
    signal,
    format: () => agent.response?.format.schema ?? null,
    argsOf(callId) {
      const calls = resume && AgentState.from(resume).unfinishedStep?.toolCalls;
      const call = calls?.find(({ id }) => id === callId);
      return call ? agent.redactor.value(call.args) : null;
    },
    start: (notify, stop) =>
      start({
        ...given,
        ...answers,
        signal: stop,
        wiretap(event) {
          notify(event);
          return wiretap?.(event); // the bus reports a rejected promise
        },
      }),
  });
}
