import { Window } from 'happy-dom';

/** Adds a DOM for React and keeps the platform's fetch, requests and streams. */
const window = new Window({ url: 'http://127.0.0.1/' });
const { document, navigator, HTMLElement, Node, MutationObserver } = window;
const page = { window, document, navigator, HTMLElement, Node, MutationObserver };
for (const [name, value] of Object.entries({ ...page, IS_REACT_ACT_ENVIRONMENT: true }))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

export const clearPage = (): void => {
  document.body.innerHTML = '';
};
