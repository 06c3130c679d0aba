import type { ChatSettings } from './chat-request.ts';
import type { ModelApi } from './model-api.ts';
import { responsesBody, type ResponsesSettings } from './responses-request.ts';
import { familyOf } from './model-family.ts';
import { responsesFormat } from './responses-stream.ts';

/** The Responses API of a server. */
export function responsesApi(
  model: string,
  settings: ChatSettings & ResponsesSettings,
  server: string,
  developerRole: 'developer' | 'system',
  account: string,
): ModelApi {
  const family = familyOf(model);
  const dialect = { server, model: family, account, developerRole };
  return {
    body: (request, isStream) => responsesBody(model, request, settings, dialect, isStream),
    create: ({ responses }, body, options) => responses.create(body as never, options),
    format: responsesFormat(family, account),
  };
}
