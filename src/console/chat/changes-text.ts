import type { JsonValue } from '../../json.ts';
import { visibleName, visibleText } from '../../visible-text.ts';
import type { ArgumentChange } from '../../react/argument-fields.ts';

/** Returns "1 change: notify_owner true → false." */
export function changesText(changes: readonly ArgumentChange[]): string {
  const [only] = changes;
  if (!only) return 'No changes.';
  if (changes.length === 1)
    return `1 change: ${visibleName(only.name)} ${shortJson(only.before)} → ${shortJson(only.after)}.`;
  return `${changes.length} changes: ${changes.map(({ name }) => visibleName(name)).join(', ')}.`;
}

const shortJson = (value: JsonValue | undefined): string => {
  if (value === undefined) return 'nothing';
  const text = visibleText(typeof value === 'string' ? value || '""' : JSON.stringify(value));
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
};
