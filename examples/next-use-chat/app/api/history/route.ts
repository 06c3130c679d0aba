import { AgentError } from 'onward';
import { toUseChatMessages } from 'onward/broadcasting/use-chat';
import { sessions } from '../../../agents.ts';
import { visitorOf } from '../../../visitor.ts';

/** The conversation that a page opens with, as messages of the AI SDK. */
export async function GET(request: Request): Promise<Response> {
  const owner = visitorOf(request);
  if (owner === null) return new Response(null, { status: 401 });
  const id = new URL(request.url).searchParams.get('chat') ?? '';
  const runtime = sessions();
  try {
    const [{ items }, { items: steps }, { pendingApprovals }] = await Promise.all([
      runtime.messages(id, { owner, limit: 200 }),
      runtime.steps(id, { owner, limit: 200 }),
      runtime.get(id, { owner }),
    ]);
    return Response.json(toUseChatMessages(items, { steps, pendingApprovals }));
  } catch (error) {
    // nothing was said yet: the first message begins the session
    if (AgentError.is(error, 'session_not_found')) return Response.json([]);
    throw error;
  }
}
