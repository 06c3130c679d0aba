export interface Part {
  readonly className: string;
  readonly 'data-onward': string;
}

/** The name under which a part is found: `.onward-tool-call` and `[data-onward="tool-call"]`. Names stay. */
export const part = (name: string, className?: string): Part => ({
  className: className === undefined ? `onward-${name}` : `onward-${name} ${className}`,
  'data-onward': name,
});
