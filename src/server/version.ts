/** Of this package; a test holds it to package.json, which an edge runtime cannot read. */
export const version = '0.1.0';
