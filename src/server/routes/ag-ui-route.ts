import type { AgUiServer } from '../../ag-ui/ag-ui-server.ts';
import type { JsonValue } from '../../json.ts';
import type { Field } from '../fields.ts';
import type { OpenStreams } from '../open-streams.ts';
import { route, type Route } from '../route.ts';
import { text } from '../schemas/shapes.ts';
import { required, word } from './field-shapes.ts';

/** The fields of a run that are read. Clients also send tools, context and more, which are ignored. */
interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly JsonValue[];
  readonly state: JsonValue;
  readonly resume: readonly JsonValue[];
}

const list = (expected: string): Field => ({ schema: { type: 'array' }, expected });

/** Creates the route on which AG-UI clients run the agents. A request is open as long as its run. */
export const agUiRoute = (agUi: AgUiServer, streams: OpenStreams): Route =>
  route<{ readonly agent: string }, AgUiRun>({
    method: 'POST',
    path: '/ag-ui',
    name: 'agUi',
    summary: 'Runs an agent for an AG-UI client and streams its events.',
    isOfSession: true,
    query: { agent: word('the agent of a new thread, if the runtime has several') },
    body: {
      threadId: required(word('the id of the thread, which is the id of its session', 128)),
      runId: required(word('the id of this run')),
      messages: required(list('the messages of the client; the last one is read')),
      state: { schema: {}, expected: "the client's own state" },
      resume: list('the answers to interrupts'),
    },
    // the handler reads it: clients send more fields, and the whole conversation
    bodyTypes: ['application/json'],
    answer: {
      status: 200,
      about: 'The events of the run as server-sent events.',
      schema: text,
      contentType: 'text/event-stream',
    },
    handle: ({ request, owner }) =>
      streams.open(request, owner, () => agUi.fetch(request, { owner })),
  });
