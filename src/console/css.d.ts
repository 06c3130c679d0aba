/** Styles of a page, which are loaded with it. */
declare module '*.css';
