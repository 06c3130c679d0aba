import { Message } from '../../messages/message.ts';
import type { Messages } from '../../messages/messages.ts';

/** A range of the model's view, or a message that is not in it. */
export type RequestChange = readonly [from: number, to: number] | Message;

/** Describes the messages of a request as ranges of the model's view, and other messages between them. */
export function requestChanges(given: Messages, view: Messages): readonly RequestChange[] {
  const changes: RequestChange[] = [];
  let places: ReadonlyMap<string, number> | null = null;
  let start = 0;
  let end = 0;
  const close = (): void => {
    if (end > start) changes.push([start, end]);
  };
  for (const message of given) {
    if (isSame(view.at(end), message)) {
      end += 1;
      continue;
    }
    places ??= new Map(Array.from(view, ({ id }, i) => [id, i]));
    const place = places.get(message.id);
    close();
    if (place !== undefined && isSame(view.at(place), message)) {
      start = place;
      end = place + 1;
    } else {
      changes.push(message);
      // the message that it stands for is most likely the one that is left out
      start = end = place === undefined ? end : place + 1;
    }
  }
  close();
  return changes;
}

function isSame(before: Message | undefined, message: Message): boolean {
  if (before === message) return true;
  if (before?.id !== message.id || before.role !== message.role) return false;
  return JSON.stringify(before) === JSON.stringify(message);
}
