import axe from 'axe-core';
import { seriousOf, type Finding } from './axe.ts';

/** The same check for a document without a browser, which cannot check colors. */
export const seriousInDocument = async (): Promise<readonly Finding[]> =>
  seriousOf(await axe.run(document.body, { rules: { 'color-contrast': { enabled: false } } }));
