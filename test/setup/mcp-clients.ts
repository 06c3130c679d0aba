import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';

/** What an elicitation gets: a response, or a function of its parameters. */
export type Answers = (params: Record<string, unknown>) => unknown;

export interface CalledResult {
  readonly isError?: boolean;
  readonly text: string;
  readonly value: {
    readonly sessionId: string;
    readonly status: string;
    readonly output?: unknown;
    readonly explanation?: string;
    readonly waitingFor?: readonly { readonly tool: string; readonly asks: string }[];
    readonly next?: string;
  };
}

export interface TestClient {
  readonly client: Client;
  /** Questions in order. */
  readonly asked: readonly Record<string, unknown>[];
  call(
    name: string,
    args: object,
    options?: { readonly signal?: AbortSignal; readonly onprogress?: (p: never) => void },
  ): Promise<CalledResult>;
}

export type Generation = 'modern' | 'legacy';

export interface ClientOptions {
  readonly generation?: Generation;
  /** Absent: the client cannot ask its user. */
  readonly answers?: Answers;
}

/** The official client, which checks each result against the schema of its tool. */
async function connected(
  transport: StreamableHTTPClientTransport | StdioClientTransport,
  { generation = 'modern', answers }: ClientOptions,
): Promise<TestClient> {
  const asked: Record<string, unknown>[] = [];
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: answers ? { elicitation: { form: {}, url: {} } } : {},
      versionNegotiation: { mode: generation === 'modern' ? 'auto' : 'legacy' },
    },
  );
  if (answers)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push({ ...params });
      return (await answers({ ...params })) as never;
    });
  onTestFinished(() => client.close().catch(() => {}));
  await client.connect(transport);
  return {
    client,
    asked,
    async call(name, args, options = {}) {
      const result = await client.callTool({ name, arguments: args as never }, options as never);
      const [block] = result.content as { text: string }[];
      return {
        ...(result.isError === true && { isError: true }),
        text: block?.text ?? '',
        value: result.structuredContent as never,
      };
    },
  };
}

export const httpClient = (
  url: string,
  token: string,
  options: ClientOptions = {},
): Promise<TestClient> =>
  connected(
    new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
    options,
  );

export interface StdioClient extends TestClient {
  readonly pid: number;
  readonly stderr: () => string;
}

export async function stdioClient(
  args: readonly string[],
  options: ClientOptions = {},
): Promise<StdioClient> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args],
    stderr: 'pipe',
  });
  let wrote = '';
  transport.stderr?.on('data', (chunk: unknown) => (wrote += String(chunk)));
  const client = await connected(transport, options);
  return { ...client, pid: transport.pid ?? 0, stderr: () => wrote };
}
