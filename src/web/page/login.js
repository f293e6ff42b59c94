// A link may bring the token behind "#token=", which browsers never send: it is taken out of the address and shown to the server.
"use strict";

const match = /^#token=([^&]+)$/.exec(location.hash);
if (match) {
  history.replaceState(null, "", location.pathname);
  // After a wrong token the person types another one.
  if (document.querySelector(".bad").hidden) {
    document.getElementById("token").value = decodeURIComponent(match[1]);
    document.getElementById("form").submit();
  }
}
