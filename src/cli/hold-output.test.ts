import { expect, it } from 'vitest';
import type { AgentEvent } from '../events/agent-event.ts';
import { holdOutput } from './hold-output.ts';

it('holds events back during a question and shows them in order afterwards', () => {
  const shown: string[] = [];
  const output = holdOutput({
    event: ({ type }, seq) => shown.push(`${type} ${seq}`),
    note: (line) => shown.push(line ?? ''),
    rest: () => {},
  });
  const event = (type: string, seq: number): void => output.event({ type } as AgentEvent, seq);
  event('before', 1);
  const show = output.hold();
  event('meanwhile', 2);
  event('meanwhile', 3);
  output.note('a signal came');
  expect(shown).toEqual(['before 1', 'a signal came']);
  show();
  event('after', 4);
  expect(shown).toEqual(['before 1', 'a signal came', 'meanwhile 2', 'meanwhile 3', 'after 4']);
});
