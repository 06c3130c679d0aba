import { chatHandler } from 'onward/broadcasting/use-chat';
import { sessions } from '../../../../agents.ts';
import { visitorOf } from '../../../../visitor.ts';

type Handler = (request: Request) => Promise<Response>;

let handler: Handler | null = null;
const handle: Handler = (request) =>
  (handler ??= chatHandler({ runtime: sessions(), owner: visitorOf }))(request);

export { handle as GET, handle as POST };
