/** Imports each named module twice and prints the changes to the process as JSON. */
import { createHook } from 'node:async_hooks';

const isObject = (value) =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

// Node creates some globals on first access, which is not a side effect of an import
for (const key of Reflect.ownKeys(globalThis)) void globalThis[key];

/** Everything reachable from the globals, with its properties. */
function globals() {
  const seen = new Map();
  const visit = (object, path) => {
    if (!isObject(object) || seen.has(object)) return;
    const own = Object.getOwnPropertyDescriptors(object);
    seen.set(object, { path, own });
    for (const key of Reflect.ownKeys(own)) {
      const { value, get } = own[key];
      visit(value, `${path}.${String(key)}`);
      visit(get, `get ${path}.${String(key)}`);
    }
    visit(Object.getPrototypeOf(object), `${path}.__proto__`);
  };
  visit(globalThis, 'globalThis');
  return seen;
}

/** Counters and caches of Node, which change with any import. */
const ofNode =
  /^globalThis\.(?:process\.(?:moduleLoadList|_|report|stdout|stderr|stdin)|performance\.)/;

function changesBetween(before) {
  const changes = [];
  for (const [object, { path, own }] of before) {
    const now = Object.getOwnPropertyDescriptors(object);
    for (const key of new Set([...Reflect.ownKeys(own), ...Reflect.ownKeys(now)])) {
      const [a, b] = [own[key], now[key]];
      const name = `${path}.${String(key)}`;
      const isSame = a && b && Object.is(a.value, b.value) && a.get === b.get && a.set === b.set;
      if (!isSame && !ofNode.test(name)) changes.push(name);
    }
  }
  return changes;
}

const held = [];
const hook = createHook({
  init(_id, type) {
    if (/Timeout|Immediate|WRAP|MESSAGEPORT|WORKER|FSEVENT|STATWATCHER|DNS/.test(type))
      held.push(type);
  },
});
const listeners = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);

const before = globals();
const listening = JSON.stringify(listeners());
hook.enable();
const types = [];
for (const url of process.argv.slice(2))
  for (const again of ['', '?again']) types.push(typeof (await import(`${url}${again}`)));
hook.disable();
const changed = changesBetween(before);
if (JSON.stringify(listeners()) !== listening) changed.push('listeners of process');
console.log(JSON.stringify({ loaded: types.length, changed, held }));
