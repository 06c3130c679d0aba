/** Lets a test reach only local servers. */
const send = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const target = input instanceof Request ? input.url : String(input);
  const { hostname } = new URL(target);
  if (hostname === '127.0.0.1' || hostname === 'localhost' || hostname === '[::1]')
    return send(input, init);
  throw new Error(`A test tried to fetch ${target}. Tests talk to loopback servers they start.`);
};
