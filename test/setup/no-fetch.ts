globalThis.fetch = (input) => {
  const target = typeof input === 'string' ? input : input instanceof URL ? input.href : input.url;
  throw new Error(`A test tried to fetch ${target}. Tests talk to loopback servers they start.`);
};
