import { useEffect, useState } from 'react';

export type Theme = 'light' | 'dark';

/** Key, as in `public/theme.js`, which sets the theme before the first paint. */
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

/** Returns the theme: the system's, until the user chooses one. The choice is stored. */
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
      // a choice that equals the system's is not stored
      if ((next === 'dark') === system().matches) localStorage.removeItem(key);
      else localStorage.setItem(key, next);
    } catch {
      // without storage, the choice lasts until the page is closed
    }
    setTheme(next);
  };
  return { theme, toggle };
}
