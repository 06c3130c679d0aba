import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { AgentError } from '../errors/agent-error.ts';
import { own } from '../json.ts';

/** Answers a request for one of the files; null for every other path. */
export type StaticFiles = (request: Request) => Promise<Response | null>;

interface File {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** Allows only scripts and styles of the build. Browsers do not treat styles that React sets as inline styles. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const everyFile = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  // also for images: an SVG that is opened directly is a page
  'content-security-policy': contentSecurityPolicy,
};
const everyPage = { 'x-frame-options': 'DENY', 'cross-origin-opener-policy': 'same-origin' };

const MAX_FILES = 2_000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Serves the files of a built web app, which are read once and kept in memory. A path is looked up in a table, so
 * dots, encodings or links cannot leave the folder. Links and dotfiles are omitted.
 */
export function staticFiles(folder: string): StaticFiles {
  const files = readFolder(folder);
  const index = files.get('/index.html');
  if (index) files.set('/', index);
  return (request) => Promise.resolve(respond(files, request));
}

function respond(files: ReadonlyMap<string, File>, request: Request): Response | null {
  if (request.method !== 'GET' && request.method !== 'HEAD') return null;
  const file = files.get(new URL(request.url).pathname);
  if (!file) return null;
  if (matches(request.headers.get('if-none-match'), file.etag))
    return new Response(null, { status: 304, headers: file.headers });
  const headers = { ...file.headers, 'content-length': String(file.bytes.length) };
  return new Response(request.method === 'HEAD' ? null : file.bytes, { headers });
}

const matches = (asked: string | null, etag: string): boolean =>
  asked !== null && asked.split(',').some((each) => each.trim().replace(/^W\//, '') === etag);

function readFolder(folder: string): Map<string, File> {
  const files = new Map<string, File>();
  let bytes = 0;
  const visit = (path: string, address: string): void => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.name.startsWith('.')) continue;
      const inside = `${address}/${entry.name}`;
      if (entry.isDirectory()) visit(join(path, entry.name), inside);
      if (!entry.isFile()) continue;
      bytes += statSync(join(path, entry.name)).size;
      if (files.size === MAX_FILES || bytes > MAX_BYTES) throw tooLarge(folder);
      files.set(inAddress(inside), fileOf(readFileSync(join(path, entry.name)), inside));
    }
  };
  try {
    visit(folder, '');
  } catch (error) {
    if (AgentError.is(error)) throw error;
    throw unreadable(folder, error);
  }
  return files;
}

/** Encodes a path like a browser. */
function inAddress(path: string): string {
  const url = new URL('http://localhost');
  url.pathname = path.replaceAll('%', '%25');
  return url.pathname;
}

function fileOf(bytes: Buffer<ArrayBuffer>, address: string): File {
  const extension = extname(address).toLowerCase();
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  const isHashed = address.startsWith('/assets/');
  const headers = {
    'content-type': own(types, extension) ?? 'application/octet-stream',
    // names in assets change with their content; revalidate everything else
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    ...everyFile,
    ...(extension === '.html' && everyPage),
  };
  return { bytes, etag, headers };
}

const unreadable = (folder: string, cause: unknown): AgentError =>
  new AgentError(
    'invalid_option',
    `static got ${JSON.stringify(folder)}, which cannot be read, expected the folder of a built web app. Build it first.`,
    { cause, details: { option: 'static' } },
  );

const tooLarge = (folder: string): AgentError =>
  new AgentError(
    'invalid_option',
    `static got ${JSON.stringify(folder)}, which has more than ${MAX_FILES} files or 64 MB, expected the folder of a ` +
      'built web app: its files are kept in memory.',
    { details: { option: 'static' } },
  );
