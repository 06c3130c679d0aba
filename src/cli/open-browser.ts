import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Milliseconds in which a browser must read the page that redirects to the address. */
const FILE_MS = 60_000;

/** Commands that open a file in the user's browser. */
const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

/**
 * Opens a URL in the browser without exposing it to other users of the machine, who can read the arguments of every
 * process: the browser gets a file that only this user may read, and that redirects to the URL.
 */
export function openBrowser(url: string, folder: string = homedir()): void {
  // not a hidden folder and not the one for temporary files: sandboxed browsers cannot read those
  const file = join(folder, `onward-open-${randomBytes(8).toString('hex')}.html`);
  const remove = (): void => rmSync(file, { force: true });
  try {
    writeFileSync(file, pageTo(url), { mode: 0o600, flag: 'wx' });
  } catch {
    return; // the URL is printed: without a browser nothing is lost
  }
  process.once('exit', remove);
  setTimeout(() => {
    process.off('exit', remove);
    remove();
  }, FILE_MS).unref();
  spawn(openers[process.platform] ?? 'xdg-open', [file], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

/** Escapes the URL: `<` is not valid in it, so nothing can end the script. */
const pageTo = (url: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Onward</title>
<script>location.replace(${JSON.stringify(new URL(url).href)})</script>
<p>Opening Onward. If nothing happens, open the address that <code>onward dev</code> printed.</p></html>
`;
