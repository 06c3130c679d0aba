import { describe, expect, it } from 'vitest';
import { AgentError } from '../errors/agent-error.ts';
import { Message, type MessageInput, type MessageJSON } from './message.ts';
import { MessageRole, messageRoles } from './message-role.ts';
import { textOf } from './content-part.ts';

const of: Readonly<Record<MessageRole, Message>> = {
  system: Message.system('s'),
  developer: Message.developer('d'),
  user: Message.user('u'),
  assistant: Message.assistant('a'),
  tool: Message.tool('call_1', 't'),
};

describe('roles', () => {
  it.each<[MessageRole, readonly boolean[]]>([
    // isUser, isAssistant, isTool, isSystem, isDeveloper
    ['system', [false, false, false, true, false]],
    ['developer', [false, false, false, true, true]],
    ['user', [true, false, false, false, false]],
    ['assistant', [false, true, false, false, false]],
    ['tool', [false, false, true, false, false]],
  ])('%s', (role, expected) => {
    const message = of[role];
    expect([
      message.isUser(),
      message.isAssistant(),
      message.isTool(),
      message.isSystem(),
      message.isDeveloper(),
    ]).toEqual(expected);
    expect(message.role).toBe(role);
    for (const other of messageRoles) expect(message.hasRole(other)).toBe(other === role);
  });

  it('hasRole accepts several roles, and no role never matches', () => {
    expect(of.tool.hasRole('user', 'tool')).toBe(true);
    expect(of.tool.hasRole('user', 'assistant')).toBe(false);
    expect(of.tool.hasRole()).toBe(false);
  });

  it('MessageRole has the names of the wire', () => {
    expect(MessageRole).toEqual({
      System: 'system',
      Developer: 'developer',
      User: 'user',
      Assistant: 'assistant',
      Tool: 'tool',
    });
  });
});

describe('a message', () => {
  const full: MessageJSON = {
    id: 'msg_1',
    role: 'assistant',
    content: [
      { type: 'text', text: 'See ' },
      { type: 'image', url: 'https://x.test/a.png' },
      { type: 'text', text: 'this.' },
    ],
    toolCalls: [{ id: 'call_1', providerId: 'p1', name: 'search', args: { q: 'x' } }],
    toolCallId: null,
    name: 'clerk',
    metadata: { reasoning: 'because' },
    createdAt: '2026-01-16T12:00:00.000Z',
  };

  it('has exactly its JSON as own fields, and is frozen', () => {
    for (const message of [...Object.values(of), Message.from(full)]) {
      expect(Object.keys(message)).toEqual(Object.keys(message.toJSON()));
      expect({ ...message }).toEqual(message.toJSON());
      expect(Object.isFrozen(message)).toBe(true);
      expect(Object.isFrozen(message.toolCalls)).toBe(true);
      expect(() => ((message as { role: string }).role = 'user')).toThrow(TypeError);
    }
    expect(Object.keys(of.user)).toEqual([
      'id',
      'role',
      'content',
      'toolCalls',
      'toolCallId',
      'name',
      'metadata',
      'createdAt',
    ]);
  });

  it('survives a round trip through JSON', () => {
    for (const message of [...Object.values(of), Message.from(full)]) {
      const again = Message.from(JSON.parse(JSON.stringify(message)) as MessageInput);
      expect(again).toEqual(message);
      expect(again).toBeInstanceOf(Message);
    }
    expect(Message.from(full).toJSON()).toEqual(full);
  });

  it('from() returns a message unchanged, and copies its lists', () => {
    expect(Message.from(of.user)).toBe(of.user);
    const toolCalls = [{ id: 'call_1', name: 'search', args: {} }];
    const message = Message.assistant('', { toolCalls });
    toolCalls.push({ id: 'call_2', name: 'search', args: {} });
    expect(message.toolCalls).toHaveLength(1);
  });

  it('gets a new id and the current time', () => {
    const before = new Date().toISOString();
    const [one, two] = [Message.user('a'), Message.user('a')];
    expect(one.id).toMatch(/^msg_[0-9a-z]{16}$/);
    expect(one.id).not.toBe(two.id);
    expect(one.createdAt >= before.slice(0, 19)).toBe(true);
    expect(one).toMatchObject({ toolCalls: [], toolCallId: null, name: null, metadata: {} });
  });

  it('a role helper ignores another role', () => {
    expect(Message.user('a', { role: 'system' }).role).toBe('user');
  });

  it('text excludes images and files', () => {
    expect(Message.from(full).text).toBe('See this.');
    expect(of.user.text).toBe('u');
    expect(textOf([{ type: 'file', data: 'AA==', mediaType: 'text/plain' }])).toBe('');
  });
});

describe('rejects anything else with its value', () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [null, 'it is null, expected an object with role and content'],
    ['hi', 'it is "hi", expected an object with role and content'],
    [[], 'it is an array of 0, expected an object with role and content'],
    [{}, 'its role is undefined, expected one of system, developer, user, assistant, tool'],
    [{ role: 'robot', content: '' }, 'its role is "robot", expected one of'],
    [{ role: 'user' }, 'its content is undefined, expected a string or a list of content parts'],
    [{ role: 'user', content: 5 }, 'its content is 5, expected a string or a list'],
    [{ role: 'user', content: [{ type: 'text' }] }, 'its content is an array of 1'],
    [{ role: 'user', content: [{ type: 'video' }] }, 'its content is an array of 1'],
    [
      { role: 'assistant', content: '', toolCalls: {} },
      'its toolCalls is an empty object, expected a list of { id, name, args }',
    ],
    [
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'n', args: '{}' }] },
      'its toolCalls is an array of 1, expected a list of { id, name, args }',
    ],
    [{ role: 'tool', content: 'x' }, 'its toolCallId is undefined, expected the id of the call'],
    [{ role: 'user', content: 'x', id: 7 }, 'its id is 7, expected a string'],
    [{ role: 'user', content: 'x', createdAt: 7 }, 'its createdAt is 7, expected a string'],
    [{ role: 'user', content: 'x', metadata: 'm' }, 'its metadata is "m", expected an object'],
  ];

  it.each(cases.map(([input, says]) => ({ input, says })))('$says', ({ input, says }) => {
    try {
      Message.from(input as MessageInput);
      expect.unreachable();
    } catch (error) {
      expect(AgentError.is(error, 'invalid_message'), String(error)).toBe(true);
      expect((error as Error).message).toContain(`This is not a message: ${says}`);
    }
  });
});
