import { REDACTED, type Redactor } from '../errors/redactor.ts';
import { isRecord, sameJson } from '../json.ts';
import { childOf, pointerTo } from '../json-pointer.ts';

/**
 * Finds a redaction placeholder in edited arguments that the recorded call does not have there. Running such an edit
 * would replace the secret with the placeholder. Returns a JSON pointer, or null.
 */
export function maskedPath(
  edited: unknown,
  recorded: unknown,
  redactors: readonly Redactor[],
): string | null {
  const shown = redactors.map((redactor) => redactor.value(recorded));
  return maskIn(edited, recorded, shown, '');
}

/** `shown` holds the recorded value as the redactors show it. */
function maskIn(
  edited: unknown,
  recorded: unknown,
  shown: readonly unknown[],
  path: string,
): string | null {
  if (typeof edited === 'string') {
    const isMask =
      marksIn(edited) > marksIn(recorded) ||
      (edited !== recorded && edited !== '' && shown.includes(edited));
    return isMask ? path : null;
  }
  if (Array.isArray(edited)) {
    for (const [i, item] of edited.entries()) {
      const found = inside(item, recorded, shown, path, String(i));
      if (found !== null) return found;
    }
    return null;
  }
  if (!isRecord(edited)) return null;
  for (const [key, inner] of Object.entries(edited)) {
    const isKnown = isRecord(recorded) && Object.hasOwn(recorded, key);
    const isShown = shown.some((value) => isRecord(value) && Object.hasOwn(value, key));
    if (!isKnown && (key.includes(REDACTED) || isShown)) return pointerTo(path, key);
    const found = inside(inner, recorded, shown, path, key);
    if (found !== null) return found;
  }
  return null;
}

function inside(
  edited: unknown,
  recorded: unknown,
  shown: readonly unknown[],
  path: string,
  key: string,
): string | null {
  const before = childOf(recorded, key);
  const seen = shown
    .map((value) => childOf(value, key))
    .filter((value) => !sameJson(value, before));
  return maskIn(edited, before, seen, pointerTo(path, key));
}

const marksIn = (value: unknown): number =>
  typeof value === 'string' ? value.split(REDACTED).length - 1 : 0;
