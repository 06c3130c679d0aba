import type { InferenceChunk, InferenceDriver } from './inference-driver.ts';

/** Creates a driver that is loaded with its first call, so that an unused model costs nothing. */
export function lazyDriver(
  names: Pick<InferenceDriver, 'name' | 'model'>,
  load: () => Promise<InferenceDriver>,
): InferenceDriver {
  let loading: Promise<InferenceDriver> | undefined;
  const loaded = (): Promise<InferenceDriver> =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
  return {
    ...names,
    infer: async (request, given) => (await loaded()).infer(request, given),
    stream: (request, given) => ({
      [Symbol.asyncIterator]: () => {
        let inner: AsyncIterator<InferenceChunk> | undefined;
        const open = async (): Promise<AsyncIterator<InferenceChunk>> => {
          const chunks = (await loaded()).stream?.(request, given) ?? noChunks();
          return (inner = chunks[Symbol.asyncIterator]());
        };
        return {
          next: async () => (inner ?? (await open())).next(),
          return: async () => inner?.return?.() ?? { done: true, value: undefined },
        };
      },
    }),
  };
}

async function* noChunks(): AsyncGenerator<InferenceChunk> {}
