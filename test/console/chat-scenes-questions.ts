import type { ChatViewProps } from '../../src/console/contract.ts';
import { questionSamples } from '../setup/question-samples.ts';
import {
  bar,
  chatProps,
  sessionOf,
  stateAfter,
  step,
  traceOfSteps,
  wireAt,
} from './chat-fixtures.ts';

/** A run that waits for answers to several questions. */
export function questions(): ChatViewProps {
  const wire = wireAt('2026-01-16T14:16:00.000');
  const state = stateAfter([
    wire.started(),
    wire.user('Book a table for Friday.'),
    wire.step(1),
    ...questionSamples.flatMap((asked) => [
      wire.tool(asked.tool, asked.tool_call_id, {}),
      wire.question(asked),
    ]),
    wire.ends('paused', { stop_message: 'Waiting because 3 questions need answers.' }),
  ]);
  const bars = questionSamples.map(({ tool, tool_call_id: id }) =>
    bar(tool, id, { state: 'waiting', durationMs: 0, asks: true }),
  );
  const trace = traceOfSteps('paused', [step(1, bars, { type: 'waiting' })]);
  return chatProps(sessionOf(state), { trace });
}
