import type { Approvals } from '../../agent/approval-answer.ts';
import type { Grants } from '../../continuation/grants.ts';
import type { JsonObject } from '../../json.ts';
import type { GrantCapOptions, SeenCall } from '../../sessions/session-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { InputAnswer } from '../../tools/input-request.ts';
import { route, type Route, type RouteAnswer } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { detailOf } from '../session-views.ts';
import {
  approvals,
  executionName,
  grant,
  hashName,
  inputName,
  jsonRecord,
  newSessionId,
  oneOf,
  reason,
  required,
  seenCalls,
  wholeNumber,
  word,
} from './field-shapes.ts';

interface Answer {
  readonly decision: 'approve' | 'deny';
  readonly args?: JsonObject;
  readonly reason?: string;
  readonly executionId?: string;
  readonly argsHash?: string;
  readonly remember?: 'session';
}

interface InputBody {
  readonly inputId: string;
  readonly action: InputAnswer['action'];
  readonly content?: JsonObject;
  readonly executionId?: string;
}

const accepted: RouteAnswer = {
  status: 202,
  about: 'Accepted; returns the session as it is now.',
  schema: ref('SessionDetail'),
};

/** Creates the routes that control a run. */
export const controlRoutes = (runtime: SessionRuntime, caps: GrantCapOptions): readonly Route[] => [
  route<object, Answer>({
    method: 'POST',
    path: '/sessions/{id}/approvals/{callId}',
    name: 'answerApproval',
    summary: 'Approves a call, optionally with other arguments, or denies it.',
    body: {
      decision: required(oneOf('approve', 'deny')),
      args: jsonRecord('with approve: the arguments to run it with instead'),
      reason: { ...reason, expected: 'with deny: the reason, in up to 2,000 characters' },
      executionId: executionName,
      argsHash: hashName,
      remember: {
        ...oneOf('session'),
        expected: 'with approve: session, to approve later calls of the tool too',
      },
    },
    bodyRules: {
      description:
        'To deny, send a reason and no args; to approve, send no reason. Send the executionId and argsHash of the ' +
        'pending approval: the answer then applies only to that call, and is refused with stale_approval otherwise.',
      oneOf: [
        { properties: { decision: { const: 'approve' }, reason: false } },
        {
          properties: { decision: { const: 'deny' }, args: false, remember: false },
          required: ['reason'],
        },
      ],
    },
    answer: accepted,
    async handle({ owner, id, callId, body }) {
      const { decision, args, reason: why = '', executionId, argsHash, remember } = body;
      const said = { owner, executionId, argsHash };
      return detailOf(
        decision === 'approve'
          ? await runtime.approve(id, callId, { ...said, remember, ...(args && { args }) })
          : await runtime.deny(id, callId, { ...said, reason: why }),
      );
    },
  }),
  route<object, { readonly calls?: readonly SeenCall[] }>({
    method: 'POST',
    path: '/sessions/{id}/approvals',
    name: 'approveAll',
    summary: 'Approves exactly the named calls, or all that wait now.',
    body: { calls: seenCalls },
    answer: accepted,
    handle: async ({ owner, id, body }) =>
      detailOf(await runtime.approveAll(id, { owner, ...body, ...caps })),
  }),
  route({
    method: 'GET',
    path: '/sessions/{id}/rules',
    name: 'listRules',
    summary: 'Lists the approvals that the session remembers.',
    answer: { status: 200, about: 'The rules, oldest first.', schema: ref('RuleList') },
    handle: async ({ owner, id }) => ({ rules: await runtime.rules(id, { owner }) }),
  }),
  route<object, { readonly rule: string }>({
    method: 'POST',
    path: '/sessions/{id}/rules/revoke',
    name: 'revokeRule',
    summary: 'Revokes a remembered approval, also for a run that is busy.',
    body: { rule: required(word('the id of a rule that the session remembers', 64)) },
    answer: { status: 200, about: 'The remaining rules.', schema: ref('RuleList') },
    async handle({ owner, id, body: { rule } }) {
      await runtime.revokeRule(id, rule, { owner });
      return { rules: await runtime.rules(id, { owner }) };
    },
  }),
  route<object, InputBody>({
    method: 'POST',
    path: '/sessions/{id}/inputs',
    name: 'answerInput',
    summary: 'Answers a question of a tool.',
    body: {
      inputId: required(inputName),
      action: required(oneOf('accept', 'decline', 'cancel')),
      content: jsonRecord('with accept: the fields of the form'),
      executionId: executionName,
    },
    bodyRules: {
      description:
        'A form needs content with accept; an address and the other actions take none. Send the executionId of the ' +
        'question: the answer then applies only to that execution.',
    },
    answer: accepted,
    async handle({ owner, id, body }) {
      const { inputId, action, content, executionId } = body;
      return detailOf(
        await runtime.answer(id, inputId, {
          owner,
          answer: content === undefined ? { action } : { action, content }, // checked by answer()
          ...(executionId !== undefined && { executionId }),
        }),
      );
    },
  }),
  route<object, { readonly reason?: string }>({
    method: 'POST',
    path: '/sessions/{id}/stop',
    name: 'stopSession',
    summary: 'Ends the current run; an idle session does not change.',
    body: { reason },
    answer: accepted,
    handle: async ({ owner, id, body }) =>
      detailOf(await runtime.stop(id, { owner, ...body, ...caps })),
  }),
  route<object, { readonly reason?: string }>({
    method: 'POST',
    path: '/sessions/{id}/pause',
    name: 'pauseSession',
    summary: 'Pauses a run after its current step.',
    body: { reason },
    answer: accepted,
    handle: async ({ owner, id, body }) =>
      detailOf(await runtime.pause(id, { owner, ...body, ...caps })),
  }),
  route<object, { readonly grant?: Grants; readonly approvals?: Approvals }>({
    method: 'POST',
    path: '/sessions/{id}/resume',
    name: 'resumeSession',
    summary: 'Continues after a pause, with approvals, or past a limit with a grant.',
    body: { grant, approvals },
    answer: accepted,
    handle: async ({ owner, id, body }) =>
      detailOf(await runtime.resume(id, { ...body, owner, authority: 'owner', ...caps })),
  }),
  route({
    method: 'POST',
    path: '/sessions/{id}/retry',
    name: 'retrySession',
    summary: 'Continues a parked session with all counts at 0; any other does not change.',
    body: {},
    answer: accepted,
    handle: async ({ owner, id }) => detailOf(await runtime.retry(id, { owner, ...caps })),
  }),
  route<object, { readonly atStep?: number; readonly id?: string }>({
    method: 'POST',
    path: '/sessions/{id}/fork',
    name: 'forkSession',
    summary: 'Creates a session with the history of this one up to a step.',
    body: {
      atStep: {
        ...wholeNumber(1, 1_000_000),
        expected: 'the last step to keep, counted from 1 in the session; default: all steps',
      },
      id: newSessionId,
    },
    answer: { status: 201, about: 'The new session.', schema: ref('SessionDetail') },
    handle: async ({ owner, id, body }) => {
      const { atStep, id: newId } = body;
      return detailOf(
        await runtime.fork(id, {
          owner,
          ...caps,
          ...(atStep !== undefined && { atStep }),
          ...(newId !== undefined && { id: newId }),
        }),
      );
    },
  }),
];
