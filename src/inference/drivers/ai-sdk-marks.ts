import type { CacheTtl } from '../../messages/cache-mark.ts';
import { isRecord, type JsonObject } from '../../json.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import type { AiSdkModel } from './ai-sdk-model.ts';
import {
  cacheMarks,
  SYSTEM,
  type CacheMarks,
  type MarkWire,
  type PromptCache,
} from './cache-marks.ts';

type ProviderOptions = Readonly<Record<string, JsonObject>>;

/** How a package of the AI SDK accepts marks. */
export interface AiSdkMarkWire extends MarkWire {
  /** Returns the provider options of a part with a mark. */
  options(ttl: CacheTtl): ProviderOptions;
}

/** The default of 5 minutes is left out, because some models accept no other. */
const hour = (ttl: CacheTtl): { readonly ttl?: CacheTtl } => (ttl === '1h' ? { ttl } : {});

const cacheControl =
  (name: string): AiSdkMarkWire['options'] =>
  (ttl) => ({ [name]: { cacheControl: { type: 'ephemeral', ...hour(ttl) } } });
const cachePoint: AiSdkMarkWire['options'] = (ttl) => ({
  bedrock: { cachePoint: { type: 'default', ...hour(ttl) } },
});

/** Models of Bedrock that cache prompts; it rejects marks for the others. */
const bedrockCaches = /claude|nova/;
const bedrockCachesNot = /claude-(?:v\d|instant|3-(?:haiku|sonnet|opus)|3-5-sonnet-20240620)/;

/** Returns how to send marks to a model; null if it gets none. */
export function aiSdkMarkWire(
  { provider, modelId }: Pick<AiSdkModel, 'provider' | 'modelId'>,
  mode: PromptCache,
): AiSdkMarkWire | null {
  const wire = (
    isKnown: boolean,
    options: AiSdkMarkWire['options'],
    on: { readonly onTools: boolean; readonly onResults: boolean },
  ): AiSdkMarkWire => ({ isAuto: mode === 'on' || (mode === 'auto' && isKnown), options, ...on });
  const everywhere = { onTools: true, onResults: true };
  if (provider.includes('anthropic')) return wire(true, cacheControl('anthropic'), everywhere);
  if (provider.includes('bedrock')) {
    const caches = bedrockCaches.test(modelId) && !bedrockCachesNot.test(modelId);
    if (!caches && mode !== 'on') return null;
    // the package sends no marks of tools
    return wire(modelId.includes('claude'), cachePoint, { onTools: false, onResults: true });
  }
  const isClaude = modelId.startsWith('anthropic/');
  if (provider.startsWith('openrouter'))
    // its package sends the mark of a result where the server does not expect it
    return wire(isClaude, cacheControl('openrouter'), { onTools: false, onResults: false });
  if (provider === 'gateway' && isClaude) return wire(true, cacheControl('anthropic'), everywhere);
  return mode === 'on' ? wire(true, cacheControl('anthropic'), everywhere) : null;
}

/** Chooses the marks of a request, with those that the user wrote as options of the provider. */
export function aiSdkMarks(
  request: InferenceRequest,
  wire: AiSdkMarkWire | null,
  providerOptions: ProviderOptions | undefined,
  systemOptions: ProviderOptions | undefined,
): CacheMarks {
  const systemCache = request.systemCache || ttlIn(systemOptions) || request.systemCache;
  const given = systemCache === undefined ? request : { ...request, systemCache };
  // a mark of the whole request lets the provider place it, and counts
  return wire && ttlIn(providerOptions)
    ? cacheMarks(given, { ...wire, isAuto: false }, 3)
    : cacheMarks(given, wire);
}

/** Returns the options of the system prompt: those of the user, with the mark if they have none that lasts as long. */
export function markedSystem(
  marks: CacheMarks,
  wire: AiSdkMarkWire | null,
  given: ProviderOptions | undefined,
): ProviderOptions | undefined {
  const ttl = marks.get(SYSTEM);
  if (!wire || ttl === undefined || ttlIn(given) === ttl) return given;
  const own = Object.entries(wire.options(ttl)).map(([name, mark]): [string, JsonObject] => [
    name,
    { ...given?.[name], ...mark },
  ]);
  return { ...given, ...Object.fromEntries(own) };
}

/** Returns how long a mark lasts that the user wrote as options of a provider; false if there is none. */
function ttlIn(options: ProviderOptions = {}): CacheTtl | false {
  for (const own of Object.values(options)) {
    const mark = own['cacheControl'] ?? own['cache_control'] ?? own['cachePoint'];
    if (isRecord(mark)) return mark['ttl'] === '1h' ? '1h' : '5m';
  }
  return false;
}
