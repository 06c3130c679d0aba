/** A date or `latest` at the end of a name. */
const version = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/** Returns the model without its date: `gpt-5-2025-08-07` reads the state of `gpt-5`. */
export const familyOf = (model: string): string => model.replace(version, '');
