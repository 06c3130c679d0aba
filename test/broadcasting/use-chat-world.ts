import { type SessionRuntime } from 'onward';
import { type ChatHandlerOptions } from 'onward/broadcasting/use-chat';
import { mockTool, type MockTool, type ScenarioStep } from 'onward/testing';
import { expect } from 'vitest';
import { own } from '../../src/json.ts';
import {
  agentWith,
  builderWith,
  followingDriver,
  memoryPlace,
  runtimeOn,
} from '../setup/sessions.ts';
import { handlerOn, says, type Handler, type OnwardUIMessage } from './use-chat-setup.ts';

/** A tool that a person must allow. */
export const gated = (): MockTool => mockTool('pay', { paid: true }, { needsApproval: true });
/** What a client posts for a new message. */
export const submit = (
  text: string,
  id?: string,
): { readonly id: string; readonly messages: readonly object[] } => ({
  id: 'chat-1',
  messages: [says(text, id)],
});

/** A chat over these turns of the model. */
export function world(
  turns: readonly (readonly ScenarioStep[])[],
  options: Partial<ChatHandlerOptions> = {},
  ...tools: Parameters<typeof agentWith> extends [unknown, ...infer T] ? T : never
): { readonly runtime: SessionRuntime; readonly handler: Handler } {
  const agent = builderWith(followingDriver(...turns), ...tools).build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  return { runtime, handler: handlerOn(runtime, options) };
}

/** The status and code of a refusal, which says nothing else. */
export const errorIn = async (response: Response): Promise<[number, string]> => {
  expect(response.headers.get('content-type')).toContain('application/json');
  const { error: refused } = (await response.json()) as {
    error: { code: string; message: string };
  };
  expect(Object.keys(refused).toSorted()).toEqual(['code', 'message']);
  return [response.status, refused.code];
};

/** The client's message after the user has answered. */
export function answered(
  message: OnwardUIMessage,
  answers: Record<string, { approved: boolean; reason?: string }>,
): OnwardUIMessage {
  const parts = message.parts.map((part) => {
    const given = 'toolCallId' in part ? own(answers, part.toolCallId) : undefined;
    if (!given || !('approval' in part) || !part.approval) return part;
    return { ...part, state: 'approval-responded', approval: { ...part.approval, ...given } };
  });
  return { ...message, parts } as OnwardUIMessage;
}
