// Values that belong to an object without being part of it.

/** What `make` makes is made once for each owner, and gone with it. */
export function onceFor<Owner extends object, Value>(make: (owner: Owner) => Value): (owner: Owner) => Value {
  const made = new WeakMap<Owner, { readonly value: Value }>();
  return (owner) => {
    let known = made.get(owner);
    if (!known) {
      known = { value: make(owner) };
      made.set(owner, known);
    }
    return known.value;
  };
}
