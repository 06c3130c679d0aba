import { Window } from 'happy-dom';

/** A page for React, with nothing else changed: fetch, requests and streams stay those of the platform. */
const window = new Window({ url: 'http://127.0.0.1/' });
const { document, navigator, HTMLElement, Node, MutationObserver } = window;
const page = { window, document, navigator, HTMLElement, Node, MutationObserver };
for (const [name, value] of Object.entries({ ...page, IS_REACT_ACT_ENVIRONMENT: true }))
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

/** Empties the page. */
export const clearPage = (): void => {
  document.body.innerHTML = '';
};
