'use client';

import { useEffect, useState, type ReactElement } from 'react';
import { Chat, type ChatMessage } from './chat.tsx';

interface Opened {
  readonly id: string;
  readonly initial: ChatMessage[];
}

/** Opens the conversation that the address names behind its #, or a new one. */
export default function Page(): ReactElement {
  const [opened, setOpened] = useState<Opened | null>(null);
  useEffect(() => {
    const open = async (): Promise<void> => {
      const id = location.hash.slice(1) || crypto.randomUUID();
      history.replaceState(null, '', `#${id}`);
      const response = await fetch(`/api/history?chat=${encodeURIComponent(id)}`);
      setOpened({ id, initial: (await response.json()) as ChatMessage[] });
    };
    void open();
  }, []);
  return (
    <main>
      <h1>Editor</h1>
      {opened && <Chat {...opened} />}
    </main>
  );
}
