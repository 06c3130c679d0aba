import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { compareRuns, readModelCall, readPayload, readToolCalls } from '../../trace/index.ts';
import type { Field, FieldsOf } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { oneOf, required, wholeNumber, word } from './field-shapes.ts';

interface StepQuery {
  readonly step: number;
  readonly execution?: string;
  readonly agent?: string;
}

interface RequestQuery extends StepQuery {
  readonly messages?: 'new' | 'all';
  readonly from?: number;
}

interface RangeQuery extends StepQuery {
  readonly part: string;
  readonly from?: number;
}

interface CompareQuery {
  readonly left: string;
  readonly right: string;
  readonly leftExecution?: string;
  readonly rightExecution?: string;
}

const run: Field = word('the id of a run; default: the newest');

const stepFields: FieldsOf<StepQuery> = {
  step: required(wholeNumber(1, 1_000_000_000)),
  execution: run,
  agent: word('the agentId of a nested agent, from its trace; default: the agent of the session'),
};

const placeIn = ({ step, execution, agent }: StepQuery) => ({
  step,
  ...(execution !== undefined && { executionId: execution }),
  ...(agent !== undefined && { agentId: agent }),
});

/** Creates the routes of what a step sent and received, and of two runs beside each other. */
export const payloadRoutes = (runtime: SessionRuntime): readonly Route[] => [
  route<RequestQuery>({
    method: 'GET',
    path: '/sessions/{id}/model-call',
    name: 'readModelCall',
    summary: 'Returns the request of one step as the model got it, and its answer, redacted.',
    query: {
      ...stepFields,
      messages: oneOf('new', 'all'),
      from: wholeNumber(0, 1_000_000_000),
    },
    answer: { status: 200, about: 'The model call.', schema: ref('ModelCall') },
    handle: ({ owner, id, query: { messages, from, ...place } }) =>
      readModelCall(runtime, id, {
        owner,
        ...placeIn(place),
        ...(messages !== undefined && { messages }),
        ...(from !== undefined && { from }),
      }),
  }),
  route<StepQuery>({
    method: 'GET',
    path: '/sessions/{id}/tool-calls',
    name: 'readToolCalls',
    summary: 'Returns the tool calls of one step with arguments, results, attempts and approvals.',
    query: stepFields,
    answer: { status: 200, about: 'The calls.', schema: ref('ToolCalls') },
    handle: ({ owner, id, query }) => readToolCalls(runtime, id, { owner, ...placeIn(query) }),
  }),
  route<RangeQuery>({
    method: 'GET',
    path: '/sessions/{id}/payload',
    name: 'readPayload',
    summary: 'Returns a range of a text that a model call or a tool call shortens.',
    query: {
      ...stepFields,
      part: required(word('the part of a text in a document of the step', 300)),
      from: wholeNumber(0, 1_000_000_000),
    },
    answer: { status: 200, about: 'The range.', schema: ref('PayloadRange') },
    handle: ({ owner, id, query: { part, from, ...place } }) =>
      readPayload(runtime, id, {
        owner,
        ...placeIn(place),
        part,
        ...(from !== undefined && { from }),
      }),
  }),
  route<CompareQuery>({
    method: 'GET',
    path: '/compare',
    name: 'compareRuns',
    summary: 'Compares two runs of the owner: the first difference, its cause, and step by step.',
    isOfSession: true,
    query: {
      left: required(word('the id of a session')),
      right: required(word('the id of a session')),
      leftExecution: run,
      rightExecution: run,
    },
    answer: { status: 200, about: 'The comparison.', schema: ref('Comparison') },
    handle: ({ owner, query: { left, right, leftExecution, rightExecution } }) =>
      compareRuns(runtime, {
        owner,
        left: {
          sessionId: left,
          ...(leftExecution !== undefined && { executionId: leftExecution }),
        },
        right: {
          sessionId: right,
          ...(rightExecution !== undefined && { executionId: rightExecution }),
        },
      }),
  }),
];
