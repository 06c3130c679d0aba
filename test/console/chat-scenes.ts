import type { Envelope } from '../../src/broadcasting/envelope.ts';
import type { ChatViewProps } from '../../src/console/contract.ts';
import {
  bar,
  chatProps,
  message,
  outcome,
  sessionOf,
  stateAfter,
  step,
  stepsStop,
  traceOfSteps,
  wireAt,
} from './chat-fixtures.ts';
import { completed, hostile, long } from './chat-scenes-text.ts';
import { questions } from './chat-scenes-questions.ts';
import { approval } from './chat-scenes-approval.ts';
import { grantStop } from './stop-sentences.ts';

const timeout = 'Tool "enrich_company" took longer than its 5000 ms.';

function stopped(): ChatViewProps {
  const wire = wireAt();
  const history = [
    message('old_user', 'user', 'Who owns Nordlicht?', { timestamp: '2026-01-16T13:40:00.000' }),
    message('old_answer', 'assistant', 'Mara Lindqvist owns it.'),
  ];
  const done = (tool: string, id: string, result: string, error: string | null = null) => {
    const envelope = wire.toolDone(tool, id, result, error, error && 'tool_timeout');
    return { ...envelope, payload: { ...envelope.payload, duration_ms: error ? 5_000 : 412 } };
  };
  const state = stateAfter(
    [
      wire.started(),
      wire.user(
        'Find the Nordlicht programs, add a lead for Helvetia Robotics with the company data filled in, and remove the old duplicate.',
      ),
      wire.step(1),
      wire.says('I’ll look up the program and the existing leads first.', 'msg_1', 1),
      wire.tool('search_entities', 'c1', { type: 'program', query: 'Nordlicht' }),
      done('search_entities', 'c1', '[{"id":"prg_118"},{"id":"prg_119"}]'),
      wire.tool('search_entities', 'c2', { type: 'lead', query: 'Helvetia Robotic' }),
      done('search_entities', 'c2', '[{"id":"lead_2207"}]'),
      wire.stepDone(1, true),
      wire.step(2),
      wire.tool('enrich_company', 'c3', { domain: 'helvetia-robotics.ch' }),
      done('enrich_company', 'c3', `Error: ${timeout}`, timeout),
      wire.tool('search_entities', 'c4', { type: 'contact', query: 'Helvetia Robotics' }),
      done('search_entities', 'c4', '[{"id":"con_7"}]'),
      wire.stepDone(2, true),
      wire.step(3),
      wire.stepDone(3),
      wire.step(4),
      wire.tool('enrich_company', 'c5', { domain: 'helvetia-robotics.ch' }),
      done('enrich_company', 'c5', '84 employees, Winterthur'),
      wire.tool('search_entities', 'c6', { owner_of: 'prg_118' }),
      done('search_entities', 'c6', '[{"id":"usr_4"}]'),
      wire.stepDone(4, true),
      wire.step(5),
      wire.says(
        'Found it: Helvetia Robotics AG, 84 people, in Winterthur. I’ll create the lead in **Nordlicht Growth** and remove `lead_2207`, which is the same company with a typo.',
        'msg_5',
        5,
      ),
      wire.tool('create_program_lead', 'c7', { name: 'Helvetia Robotics AG', program: 'prg_118' }),
      done('create_program_lead', 'c7', '{"id":"lead_2231","status":"open"}'),
      wire.tool('delete_program_lead', 'c8', { id: 'lead_2207' }),
      done('delete_program_lead', 'c8', '{"deleted":true}'),
      wire.stepDone(5, true),
      wire.step(6),
      wire.tool('search_entities', 'c9', { type: 'lead', in: 'prg_118' }),
      done(
        'search_entities',
        'c9',
        JSON.stringify(Array.from({ length: 12 }, (_, id) => ({ id }))),
      ),
      wire.stepDone(6, true),
      wire.limit(),
    ],
    history,
  );
  const trace = traceOfSteps(
    'stopped',
    [
      step(1, [bar('search_entities', 'c1'), bar('search_entities', 'c2')]),
      step(2, [
        bar('enrich_company', 'c3', { state: 'timeout', error: timeout, durationMs: 5_000 }),
        bar('search_entities', 'c4'),
      ]),
      step(3, [], {
        type: 'error',
        bars: [
          bar('model', null, {
            state: 'error',
            error: 'rate_limit: 429 Too Many Requests, retry-after 2 s',
            durationMs: 240,
          }),
        ],
        waitMs: 2_000,
        outcome: outcome(true, 'rate limit, retrying (2/3)', 'ErrorPolicyCriterion', {
          errorType: 'rate_limit',
        }),
      }),
      step(4, [
        bar('enrich_company', 'c5', { retry: { number: 1, limit: 3 }, durationMs: 1_840 }),
        bar('search_entities', 'c6'),
      ]),
      step(5, [
        bar('create_program_lead', 'c7'),
        bar('delete_program_lead', 'c8', { pausedMs: 252_000, answer: 'approved' }),
      ]),
      step(6, [bar('search_entities', 'c9')]),
    ],
    { stop: stepsStop },
  );
  return chatProps(sessionOf(state), { trace });
}

function live(): ChatViewProps {
  const wire = wireAt('2026-01-16T14:18:00.000');
  const words =
    'Four programs renew in the first quarter. **Nordlicht Growth** (31 January) and **Alpine** (12 February) belong to Mara Lindqvist; **Baltic Reach** and **Iberia Cloud** follow on 1 March. The company data for `iberia.cloud` did not come through, so I am **asking';
  const state = stateAfter([
    wire.started(),
    wire.user('Which programs renew in Q1, and who owns them?'),
    wire.step(1),
    wire.tool('search_entities', 'c1', { type: 'program', renewal: '2027-01-01 … 2027-03-31' }),
    wire.toolDone('search_entities', 'c1', '[1,2,3,4]'),
    wire.tool('enrich_company', 'c2', { domain: 'iberia.cloud' }),
    wire.toolDone('enrich_company', 'c2', `Error: ${timeout}`, timeout, 'tool_timeout'),
    wire.stepDone(1, true),
    wire.step(2),
    wire.chunk(words, 0, 2, 'msg_2'),
  ]);
  const trace = traceOfSteps('processing', [
    step(
      1,
      [
        bar('search_entities', 'c1'),
        bar('enrich_company', 'c2', { state: 'timeout', error: timeout }),
      ],
      {
        outcome: outcome(true, 'timeout in enrich_company, retrying (1/3)'),
      },
    ),
    step(2, [], { type: 'running' }),
  ]);
  return chatProps(sessionOf(state), { trace });
}

function working(): ChatViewProps {
  const wire = wireAt('2026-01-16T14:18:00.000');
  const state = stateAfter([
    wire.started(),
    wire.user('Enrich every Baltic contact.'),
    wire.step(1),
    wire.tool('enrich_company', 'c1', { domain: 'tallinn-freight.ee' }),
    wire.tool('research_agent', 'c2', { question: 'Who runs Riga Timber?' }),
    {
      ...wire.make('agent.tool.started', {
        tool: 'search_web',
        tool_call_id: 'n1',
        args_summary: '{}',
      }),
      agent_id: 'agt_2',
      parent_agent_id: 'agt_1',
    },
  ]);
  return chatProps(sessionOf(state), {
    trace: traceOfSteps('processing', [
      step(
        1,
        [
          bar('enrich_company', 'c1', { state: 'running' }),
          bar('research_agent', 'c2', { state: 'running' }),
        ],
        { type: 'running' },
      ),
    ]),
  });
}

function failed(): ChatViewProps {
  const wire = wireAt('2026-01-16T10:58:00.000');
  const events: Envelope[] = [wire.started(), wire.user('Import the Baltic contacts.')];
  for (const n of [1, 2, 3, 4]) {
    events.push(
      wire.step(n),
      wire.tool('enrich_company', `c${n}`, {
        domain: n > 2 ? 'baltic-reach.ee' : 'balticreach.ee',
      }),
      wire.toolDone(
        'enrich_company',
        `c${n}`,
        'Error: upstream 503',
        'upstream 503: the registry is down for maintenance',
      ),
      wire.stepDone(n, true),
    );
  }
  events.push(
    wire.ends('failed', {
      step_count: 4,
      stop_reason: 'retry_limit',
      stop_message: 'x',
      resolved_by: 'ErrorPolicyCriterion',
    }),
  );
  return chatProps(sessionOf(stateAfter(events)), {
    trace: traceOfSteps(
      'failed',
      [1, 2, 3, 4].map((n) =>
        step(
          n,
          [
            bar('enrich_company', `c${n}`, {
              state: 'error',
              error: 'upstream 503',
              retry: n > 1 ? { number: n - 1, limit: 3 } : null,
            }),
          ],
          {
            outcome: outcome(
              n < 4,
              n < 4
                ? `tool error in enrich_company, retrying (${n}/3)`
                : 'tool error in enrich_company (upstream 503), tried again 3 of 3 times',
            ),
          },
        ),
      ),
      {
        stop: grantStop(
          'Failed because',
          'enrich_company failed 4 times in a row, and all 3 retries are used',
          { retries: 3 },
        ),
      },
    ),
  });
}

/** Every state of the chat, with data as from a server. */
export const scenes: Readonly<Record<SceneName, () => ChatViewProps>> = {
  stopped,
  approval: () => approval(),
  approvals: () => approval({}, 3),
  questions,
  live,
  working,
  failed,
  completed,
  long,
  hostile,
};

export type SceneName =
  | 'stopped'
  | 'approval'
  | 'approvals'
  | 'questions'
  | 'live'
  | 'working'
  | 'failed'
  | 'completed'
  | 'long'
  | 'hostile';
