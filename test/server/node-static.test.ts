import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { staticFiles } from 'onward/server/node';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { refusal } from '../setup/sessions.ts';
import { serving, statusOf, wire } from './node-wire.ts';
import { removeFolder } from '../setup/folders.ts';

const secret = 'planted-secret';
const root = mkdtempSync(join(tmpdir(), 'onward-static-'));
const folder = join(root, 'console');

beforeAll(() => {
  mkdirSync(join(folder, 'assets'), { recursive: true });
  mkdirSync(join(folder, '.git'));
  mkdirSync(join(root, 'console-private'));
  const files: Record<string, string> = {
    'console/index.html': '<!doctype html><title>Console</title>',
    'console/assets/app-4f2a.js': 'console.log(1)',
    'console/assets/app-4f2a.css': 'a{}',
    'console/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'console/a b@2x.png': 'png',
    'console/unknown.bin': 'bin',
    'console/.env': secret,
    'console/.git/config': secret,
    'secret.txt': secret,
    'console-private/secret.txt': secret,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  symlinkSync(join(root, 'secret.txt'), join(folder, 'link.txt'));
  symlinkSync(join(root, 'console-private'), join(folder, 'linked'));
});
afterAll(() => removeFolder(root));

const started = async (): Promise<{ url: string; port: number }> =>
  serving(() => new Response('elsewhere', { status: 404 }), { static: folder });

describe('static files', () => {
  it.each<[string, string, string]>([
    ['/', 'text/html; charset=utf-8', 'no-cache'],
    ['/index.html', 'text/html; charset=utf-8', 'no-cache'],
    ['/?a=b', 'text/html; charset=utf-8', 'no-cache'],
    [
      '/assets/app-4f2a.js',
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ],
    ['/assets/app-4f2a.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['/icon.svg', 'image/svg+xml', 'no-cache'],
    ['/a%20b@2x.png', 'image/png', 'no-cache'],
    ['/unknown.bin', 'application/octet-stream', 'no-cache'],
  ])('%s has type %s and cache control %s', async (path, type, cache) => {
    const { url } = await started();
    const response = await fetch(url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('cache-control')).toBe(cache);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(Number(response.headers.get('content-length'))).toBe(
      (await response.arrayBuffer()).byteLength,
    );
  });

  it.each([
    '/nothing',
    '/assets',
    '/assets/',
    '/sessions/abc',
    '/index.html/',
    '/INDEX.HTML',
    '/index.html%00.js',
    '/index.html%20',
    '/.env',
    '/%2eenv',
    '/.git/config',
    '/link.txt',
    '/linked/secret.txt',
    '/../secret.txt',
    '/../../../../../../etc/passwd',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/%252e%252e%252fsecret.txt',
    '/..%5csecret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets%2fapp-4f2a.js',
    '/../console-private/secret.txt',
    '//etc/passwd',
    '/%c0%ae%c0%ae/secret.txt',
    '/..;/secret.txt',
    '/file:///etc/passwd',
    '/C:/windows/win.ini',
  ])('D43: %s gets 404', async (path) => {
    const { port } = await started();
    const { closed } = wire(
      port,
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
    );
    const answer = await closed;
    expect(statusOf(answer)).toBe(404);
    expect(answer).not.toContain(secret);
    expect(answer).not.toContain('root:');
  });

  it('pages allow only code of this server and no frame', async () => {
    const { url } = await started();
    const { headers } = await fetch(url);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    const picture = await fetch(`${url}/icon.svg`);
    expect(picture.headers.get('content-security-policy')).toBe(policy);
  });

  it('a matching ETag gets 304', async () => {
    const { url } = await started();
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const asked of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const response = await fetch(url, { headers: { 'if-none-match': asked } });
      expect([response.status, await response.text()]).toEqual([304, '']);
      expect(response.headers.get('etag')).toBe(etag);
    }
    expect((await fetch(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('HEAD returns the length, and other methods reach the handler', async () => {
    const { url } = await started();
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '37']);
    const post = await fetch(url, { method: 'POST', body: 'x' });
    expect([post.status, await post.text()]).toEqual([404, 'elsewhere']);
  });

  it('refuses a missing folder and one that is too large', async () => {
    expect((await refusal(() => staticFiles(join(root, 'none')))).message).toContain(
      'Build it first',
    );
    const large = join(root, 'large');
    mkdirSync(large);
    writeFileSync(join(large, 'film.bin'), '');
    truncateSync(join(large, 'film.bin'), 64 * 1024 * 1024 + 1);
    expect((await refusal(() => staticFiles(large))).message).toContain('2000 files or 64 MB');
  });
});
