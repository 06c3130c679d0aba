/** The package version. A test compares it with package.json, which an edge runtime cannot read. */
export const version = '0.1.0';
