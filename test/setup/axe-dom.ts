import axe from 'axe-core';
import { seriousOf, type Finding } from './axe.ts';

/** The same of a document without a browser: colours need a real one. */
export const seriousInDocument = async (): Promise<readonly Finding[]> =>
  seriousOf(await axe.run(document.body, { rules: { 'color-contrast': { enabled: false } } }));
