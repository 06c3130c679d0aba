/** A hook changed the arguments to ones that need an approval. */
export class MissingApproval extends Error {
  override readonly name = 'MissingApproval';
  constructor(tool: string, hasRun: boolean) {
    super(
      `Blocked: a hook changed the arguments of "${tool}", and with those it needs an approval that no person has given. ` +
        (hasRun ? 'It has run before with others, and was not run with these.' : 'It was not run.'),
    );
  }
}
