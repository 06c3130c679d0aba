import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** How long a browser has to read the page that leads to the address. */
const KEPT_MS = 60_000;

/** What opens a file in the browser of the user. */
const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' };

/**
 * Shows an address in the browser without telling it to other users of the machine, who can read the arguments of every
 * process: the browser is given a file that only this user may read, and that leads to the address.
 */
export function openBrowser(url: string, folder: string = homedir()): void {
  // not in a hidden folder, nor in that for temporary files: browsers in a sandbox do not see those
  const file = join(folder, `onward-open-${randomBytes(8).toString('hex')}.html`);
  const remove = (): void => rmSync(file, { force: true });
  try {
    writeFileSync(file, pageTo(url), { mode: 0o600, flag: 'wx' });
  } catch {
    return; // the address is printed: without a browser nothing is lost
  }
  process.once('exit', remove);
  setTimeout(() => {
    process.off('exit', remove);
    remove();
  }, KEPT_MS).unref();
  spawn(openers[process.platform] ?? 'xdg-open', [file], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}

/** `<` cannot stand in an address as it is, so that nothing in it ends the script. */
const pageTo = (url: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Onward</title>
<script>location.replace(${JSON.stringify(new URL(url).href)})</script>
<p>Opening Onward. If nothing happens, open the address that <code>onward dev</code> has printed.</p></html>
`;
