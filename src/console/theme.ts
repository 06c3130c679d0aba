import { useEffect, useState } from 'react';

export type Theme = 'light' | 'dark';

/** As in `public/theme.js`, which sets it before the first paint. */
const key = 'onward-theme';

const system = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)');

const kept = (): Theme | null => {
  try {
    const value = localStorage.getItem(key);
    return value === 'dark' || value === 'light' ? value : null;
  } catch {
    return null;
  }
};

/** The system's, until the user chooses; the choice is kept. */
export function useTheme(): { readonly theme: Theme; readonly toggle: () => void } {
  const [theme, setTheme] = useState<Theme>(() => kept() ?? (system().matches ? 'dark' : 'light'));
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  useEffect(() => {
    const query = system();
    const follow = (): void => {
      if (kept() === null) setTheme(query.matches ? 'dark' : 'light');
    };
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  const toggle = (): void => {
    const next = theme === 'dark' ? 'light' : 'dark';
    try {
      // what the system says as well needs no choice of its own
      if ((next === 'dark') === system().matches) localStorage.removeItem(key);
      else localStorage.setItem(key, next);
    } catch {
      // it stays until the page is left
    }
    setTheme(next);
  };
  return { theme, toggle };
}
