import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readPublicApi } from './public-api.ts';
import { renderApi } from './render-api.ts';
import { renderLlms } from './render-llms.ts';

/** `npm run docs`: writes the API reference and llms.txt anew. The guides beside it are written by hand. */
const folder = 'docs/api';
const api = readPublicApi();
const pages = await renderApi(api);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const { file, text } of pages) writeFileSync(`${folder}/${file}`, text);
writeFileSync('llms.txt', renderLlms());
const names = api.subpaths.reduce((sum, subpath) => sum + subpath.names.length, 0);
console.log(`${folder}: ${pages.length} pages, ${names} names`);
