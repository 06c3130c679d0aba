import type { ChatViewProps } from '../../src/console/contract.ts';
import {
  bar,
  chatProps,
  message,
  sessionOf,
  stateAfter,
  step,
  traceOfSteps,
  wireAt,
} from './chat-fixtures.ts';
import { grantStop } from './stop-sentences.ts';

const report = `## Partner summary

Three programs moved this week:

| Program | Owner | Leads | Change |
| :-- | :-- | --: | --: |
| Nordlicht Growth | Mara Lindqvist | 41 | +3 |
| Alpine | Jonas Weber | 12 | −1 |
| Baltic Reach | Mara Lindqvist | 7 | 0 |

1. **Nordlicht** needs a new tier. See [the program page](https://example.com/prg_118).
2. *Alpine* lost \`lead_1874\`:
   - it was inactive since November
   - its owner was told

> Numbers are from this morning.

\`\`\`ts
const leads = await search({ program: 'Alpine', openOnly: true, since: '2024-12-31', order: 'activity' });
\`\`\`

Shall I ~~delete~~ archive the rest?`;

export function completed(): ChatViewProps {
  const wire = wireAt('2026-01-16T11:32:00.000');
  const state = stateAfter([
    wire.started(),
    wire.user('Weekly partner summary, please.\nWith a table.'),
    wire.step(1),
    wire.tool('search_entities', 'c1', { type: 'program' }),
    wire.toolDone('search_entities', 'c1', '[1,2,3]'),
    wire.stepDone(1, true),
    wire.step(2),
    wire.says(report, 'msg_2', 2),
    wire.stepDone(2),
    wire.ends('completed', { step_count: 2 }),
  ]);
  return chatProps(sessionOf(state), {
    trace: traceOfSteps('completed', [step(1, [bar('search_entities', 'c1')]), step(2, [])]),
  });
}

export function long(): ChatViewProps {
  const history = Array.from({ length: 9 }, (_, i) => [
    message(`u${i}`, 'user', `Question ${i + 1}: what about program ${i + 100}?`, {
      timestamp: `2026-01-1${i > 5 ? 6 : 4}T1${i}:00:00.000`,
    }),
    message(`a${i}`, 'assistant', `Program ${i + 100} is fine. Nothing to do.`),
  ]).flat();
  const wire = wireAt('2026-01-16T19:30:00.000');
  const state = stateAfter(
    [
      wire.started(),
      wire.user('And the last one?'),
      wire.step(1),
      wire.says('It is fine too.'),
      wire.stepDone(1),
      wire.ends('completed'),
    ],
    history,
  );
  return chatProps(sessionOf(state), { trace: traceOfSteps('completed', [step(1, [])]) });
}

const evil = `<script>window.hacked = 1</script> <img src=x onerror="window.hacked = 1">

[click me](javascript:window.hacked=1) [data](data:text/html;base64,PHNjcmlwdD4=) ![pixel](https://tracker.example/p.gif) <a href="javascript:alert(1)">raw</a>

| <b>a</b> | b |
| - | - |
| <iframe src="javascript:window.hacked=1"> | ${'x'.repeat(300)} |

${'verylongwordwithoutanyspace'.repeat(20)}

***bold _and **nested ~~junk~~***`;

export function hostile(): ChatViewProps {
  const wire = wireAt();
  const state = stateAfter([
    wire.started(),
    wire.user(`<script>window.hacked = 1</script> ${'w'.repeat(200)}`),
    wire.step(1),
    wire.says(evil, 'msg_1', 1),
    wire.tool('evil_tool_with_a_very_long_name_that_goes_on_and_on_and_on_for_ever', 'c1', {
      html: '<script>window.hacked = 1</script>'.repeat(6),
    }),
    wire.toolDone(
      'evil_tool_with_a_very_long_name_that_goes_on_and_on_and_on_for_ever',
      'c1',
      'Error',
      `<img src=x onerror="window.hacked=1"> ${'y'.repeat(300)}`,
    ),
    wire.tool('big', 'c2', { n: 1 }),
    wire.toolDone('big', 'c2', { summary: '[{"id":1,"html":"<script>', ref: '7.result.exe_1' }),
    wire.tool('create_program_lead', 'c3', { name: 'Helvetia Robotics AG' }),
    wire.toolDone(
      'create_program_lead',
      'c3',
      '"create_program_lead" was started, and the process ended before its result was seen: whether it took effect is unknown. It was not run again.',
      'effect unknown',
      'effect_unknown',
    ),
    wire.tool('delete_program_lead', 'c4', { id: 'lead_1874' }),
    wire.toolDone(
      'delete_program_lead',
      'c4',
      'Denied by a person: still in negotiation',
      'denied',
      'denied',
    ),
    wire.tool('create_program_lead', 'c5', { name: 'Other AG' }),
    wire.toolDone(
      'create_program_lead',
      'c5',
      'Not finished: you stopped the run.',
      'aborted',
      'aborted',
    ),
    wire.stepDone(1, true),
    wire.ends('cancelled', { stop_reason: 'user_requested', resolved_by: 'StopRequestCheck' }),
  ]);
  return chatProps(sessionOf(state), {
    trace: traceOfSteps('cancelled', [step(1, [])], {
      stop: grantStop('Stopped because', 'a stop was requested', { steps: 1 }),
    }),
  });
}
