import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openBrowser } from './open-browser.ts';
import { removeFolder } from '../../test/setup/folders.ts';

const token = 'secret-token-0123456789';
const address = `http://127.0.0.1:4111/#token=${token}`;

describe.skipIf(process.platform === 'win32')('openBrowser', () => {
  let folder = '';
  const path = process.env['PATH'] ?? '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'onward-open-'));
    mkdirSync(join(folder, 'home'));
    mkdirSync(join(folder, 'bin'));
    // prints its arguments and its environment
    const script = `#!/bin/sh\n{ printf '%s\\n' "$@"; tr '\\0' '\\n' < /proc/$$/cmdline 2>/dev/null; } > '${folder}/seen.new'\nmv '${folder}/seen.new' '${folder}/seen'\n`;
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(join(folder, 'bin', name), script);
      chmodSync(join(folder, 'bin', name), 0o755);
    }
    process.env['PATH'] = `${join(folder, 'bin')}${delimiter}${path}`;
  });
  afterEach(() => {
    process.env['PATH'] = path;
    vi.useRealTimers();
    removeFolder(folder);
  });

  it('passes the URL in a file that only this user can read, not in arguments', async () => {
    openBrowser(address, join(folder, 'home'));
    await vi.waitFor(() => expect(existsSync(join(folder, 'seen'))).toBe(true), 10_000);
    const seen = readFileSync(join(folder, 'seen'), 'utf8');
    expect(seen).not.toContain(token);
    const [name = ''] = readdirSync(join(folder, 'home'));
    const file = join(folder, 'home', name);
    expect(seen.split('\n')[0]).toBe(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(`location.replace("${address}")`);
  });

  it('deletes the file after a minute', () => {
    vi.useFakeTimers();
    openBrowser(address, join(folder, 'home'));
    expect(readdirSync(join(folder, 'home'))).toHaveLength(1);
    vi.advanceTimersByTime(61_000);
    expect(readdirSync(join(folder, 'home'))).toEqual([]);
  });

  it('does nothing if no file can be created, or there is no browser', () => {
    expect(() => openBrowser(address, join(folder, 'none'))).not.toThrow();
    process.env['PATH'] = join(folder, 'nothing');
    expect(() => openBrowser(address, join(folder, 'home'))).not.toThrow();
  });

  it('escapes a URL that could end the script', () => {
    openBrowser('http://127.0.0.1:4111/?a=</script><b>#token=x', join(folder, 'home'));
    const [name = ''] = readdirSync(join(folder, 'home'));
    const page = readFileSync(join(folder, 'home', name), 'utf8');
    expect(page.match(/<\/script>/g)).toHaveLength(1);
  });
});
