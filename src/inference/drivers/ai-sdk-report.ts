import { isRecord, jsonText } from '../../json.ts';
import type { ProviderReport } from '../model-call-info.ts';
import { string } from './chat-message.ts';
import { requestIdIn } from './request-id.ts';
import { headerMap } from './retry-after.ts';

/** Maximum warnings of a call that are read. */
const MAX_WARNINGS = 20;

/** Collects what a package reports about a call: in its result, and in parts of a stream. */
export class AiSdkReport {
  #model = '';
  #headerId = '';
  #answerId = '';
  #warnings: readonly string[] = [];
  #isPage = false;

  /** Reads the metadata of a response, which is a part of a stream or a field of a result. */
  metadata({ id, modelId, headers }: Record<string, unknown>): void {
    this.#model = string(modelId) || this.#model;
    this.#answerId = string(id) || this.#answerId;
    if (!isHeaders(headers)) return;
    const read = headerMap(headers);
    this.#headerId = requestIdIn(read) ?? '';
    this.#isPage = read['content-type']?.startsWith('text/html') === true;
  }

  /** Reads a result, or the start of a stream. */
  result({ response, warnings }: Record<string, unknown>): void {
    if (isRecord(response)) this.metadata(response);
    if (Array.isArray(warnings) && warnings.length > 0)
      this.#warnings = warnings.slice(0, MAX_WARNINGS).map(warningText);
  }

  /** Whether the server sent a web page, such as that of a proxy. */
  get isPage(): boolean {
    return this.#isPage;
  }

  get hasModel(): boolean {
    return this.#model !== '';
  }

  get report(): ProviderReport {
    const requestId = this.#headerId || this.#answerId;
    return {
      ...(this.#model && { model: this.#model }),
      ...(requestId && { requestId }),
      ...(this.#warnings.length > 0 && { warnings: this.#warnings }),
    };
  }
}

const isHeaders = (headers: unknown): boolean => typeof headers === 'object' && headers !== null;

/** Formats a warning of any specification: a message, else its kind with what it is about. */
function warningText(warning: unknown): string {
  if (!isRecord(warning)) return string(warning);
  const { type, message, feature, setting, tool, details } = warning;
  if (string(message) !== '') return string(message);
  const about = string(feature) || string(setting) || (isRecord(tool) ? string(tool['name']) : '');
  const kind = string(type).replaceAll('-', ' ');
  if (kind === '' && about === '') return jsonText(warning) ?? '';
  return [[kind, about].filter(Boolean).join(': '), string(details)].filter(Boolean).join('. ');
}
