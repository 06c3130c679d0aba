import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { ChatView } from '../../src/console/chat/chat-view.tsx';
import { message } from './chat-fixtures.ts';
import { scenes, type SceneName } from './chat-scenes.ts';

declare global {
  interface Window {
    show: (scene: SceneName) => void;
    /** Shows the scene with one more message. */
    grow: (scene: SceneName, text: string) => void;
    hacked?: number;
  }
}

const root = createRoot(document.getElementById('root') ?? document.body);

// space for the session list, as in the console
document.head.insertAdjacentHTML(
  'beforeend',
  '<style>@media (width > 760px) { #root { margin-left: var(--list-width); } } #root { height: 100vh; }</style>',
);
const draw = (scene: SceneName, more: string | null): void => {
  const props = scenes[scene]();
  const { session } = props;
  const messages = [
    ...session.messages,
    ...(more === null ? [] : [message('more', 'assistant', more)]),
  ];
  const shown = { ...session, messages, state: { ...session.state, messages } };
  flushSync(() => root.render(<ChatView key={scene} {...props} session={shown} />));
};
window.show = (scene) => draw(scene, null);
window.grow = draw;
