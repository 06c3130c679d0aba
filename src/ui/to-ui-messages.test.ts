import { expect, it } from 'vitest';
import { Message } from '../messages/message.ts';
import { toUiMessages } from './to-ui-messages.ts';

const createdAt = '2026-01-16T12:00:00.000Z';
const call = { id: 'c1', name: 'stock', args: { article: 'lamp' } };
const json = (message: Message) => ({ ...message.toJSON(), createdAt });

it('shows messages and calls, and hides messages for the model only', () => {
  const rows = toUiMessages([
    json(Message.system('Be kind.', { id: 's' })),
    json(Message.developer('Be brief.', { id: 'd' })),
    json(Message.user('Lamps?', { id: 'u' })),
    json(Message.assistant('Let me look.', { id: 'a', toolCalls: [call] })),
    json(Message.tool('c1', '{"pieces":7}', { id: 't', name: 'stock' })),
    json(Message.assistant('', { id: 'blank' })),
    json(Message.user('Continue.', { id: 'syn', metadata: { synthetic: true } })),
    json(Message.assistant('7.', { id: 'b' })),
  ]);
  expect(rows).toEqual([
    { id: 'u', role: 'user', content: 'Lamps?', timestamp: createdAt, metadata: {} },
    {
      id: 'a',
      role: 'assistant',
      content: 'Let me look.',
      timestamp: createdAt,
      metadata: {
        tool_calls: [
          {
            id: 'c1',
            name: 'stock',
            args: { article: 'lamp' },
            args_summary: '{"article":"lamp"}',
          },
        ],
      },
    },
    {
      id: 't',
      role: 'tool',
      content: '{"pieces":7}',
      timestamp: createdAt,
      metadata: { tool_call_id: 'c1', tool_name: 'stock', tool_result: { pieces: 7 } },
    },
    { id: 'b', role: 'assistant', content: '7.', timestamp: createdAt, metadata: {} },
  ]);
});

it('results have durations and errors with steps', () => {
  const messages = [
    json(Message.assistant('', { id: 'a', toolCalls: [call, { ...call, id: 'c2' }] })),
    json(Message.tool('c1', 'Error: boom', { id: 't1' })),
    json(Message.tool('c2', 'Denied by a person: no', { id: 't2' })),
  ];
  const error = { type: 'tool', code: 'tool_failed', message: 'boom', at: createdAt } as never;
  const steps = [
    {
      messageIds: ['a', 't1', 't2'],
      results: [
        { callId: 'c1', kind: 'error', value: 'Error: boom', error, durationMs: 12.5 },
        { callId: 'c2', kind: 'denied', value: 'Denied by a person: no', durationMs: 0 },
      ],
    },
  ] as const;
  const [, first, second] = toUiMessages(messages, { steps });
  expect(first?.metadata).toEqual({
    tool_call_id: 'c1',
    tool_name: 'stock',
    tool_result: 'Error: boom',
    tool_error: 'boom',
    tool_error_code: 'tool_failed',
    tool_duration_ms: 12.5,
  });
  expect(second?.metadata).toMatchObject({ tool_error: 'denied', tool_error_code: 'denied' });
});

it('names images and files without text, truncates summaries, and shows arguments that are not JSON', () => {
  const long = { ...call, args: { text: 'x'.repeat(300) } };
  const raw = { ...call, id: 'c3', args: {}, argsRaw: '{"article": lamp' };
  const rows = toUiMessages([
    json(
      Message.user([
        { type: 'image', url: 'x' },
        { type: 'file', filename: 'a.pdf' },
      ]),
    ),
    json(
      Message.user([
        { type: 'text', text: 'See ' },
        { type: 'image', url: 'x' },
      ]),
    ),
    json(Message.assistant('', { toolCalls: [long, raw] })),
  ]);
  expect(rows.map(({ content }) => content)).toEqual(['[image] [file a.pdf]', 'See ', '']);
  const [cut, broken] = rows[2]?.metadata.tool_calls ?? [];
  expect(cut?.args_summary).toHaveLength(200);
  expect(cut?.args).toEqual(long.args);
  expect(broken).toMatchObject({ args: '{"article": lamp', args_summary: '{"article": lamp' });
});
