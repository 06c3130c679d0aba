import { pusherAuth } from 'onward/broadcasting/pusher';

export async function main(): Promise<string> {
  const handler = pusherAuth({ key: 'test-key', secret: 'test-secret', authorize: () => true });
  const body = 'socket_id=1234.5678&channel_name=private-agent.run.1';
  const response = await handler(new Request('http://app.test/auth', { method: 'POST', body }));
  return response.text();
}
