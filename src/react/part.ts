export interface Part {
  readonly className: string;
  readonly 'data-onward': string;
}

/** Returns the stable name of a part: `.onward-tool-call` and `[data-onward="tool-call"]`. */
export const part = (name: string, className?: string): Part => ({
  className: className === undefined ? `onward-${name}` : `onward-${name} ${className}`,
  'data-onward': name,
});
