/**
 * An agent in a Next app: this one file is the whole API, sessions, live events, approvals and the trace.
 *
 *   npx next dev examples/server-next
 *
 *   curl localhost:3000/api/sessions -H 'x-user: ada' --json '{"message":"Publish \"Spring\""}'
 *   curl localhost:3000/api/sessions/…/events -H 'x-user: ada' -N
 *   curl localhost:3000/api/sessions/…/approvals/… -H 'x-user: ada' --json '{"decision":"approve"}'
 *
 * Next may start a route in a process of its own, where nothing runs between requests: there, hand the work to a
 * runtime that runs elsewhere on the same store. The model is scripted; agents.ts has the line to change.
 */
import { agents } from '../../../agents.ts';

const handle = (request: Request): Promise<Response> => agents()(request);

export { handle as DELETE, handle as GET, handle as POST };
